/** A refusal of the server (problem+json), or of the way to it. */
import type { components } from './schema.gen';

export type Problem = components['schemas']['Problem'];
export type FieldProblem = components['schemas']['FieldProblem'];

/** Codes of problems that never reached the server. */
export const UNREACHABLE = 'unreachable';
export const UNREADABLE = 'unreadable';

export class ApiProblem extends Error {
  constructor(
    readonly problem: Problem,
    readonly requestId: string | null = null,
    /** Seconds after which another try makes sense (`Retry-After`). */
    readonly retryAfter: number | null = null,
  ) {
    super(problem.detail || problem.title);
    this.name = 'ApiProblem';
  }
  get status(): number {
    return this.problem.status;
  }
  get code(): string {
    return this.problem.code;
  }
  get fields(): readonly FieldProblem[] {
    return this.problem.errors ?? [];
  }
}

/** The message for a field, by its exact name or the last part of its path. */
export function fieldMessage(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiProblem)) return undefined;
  return error.fields.find((each) => each.field === field)?.message;
}

export function asProblem(error: unknown): ApiProblem {
  if (error instanceof ApiProblem) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new ApiProblem({ type: '', title: '', status: 0, code: UNREADABLE, detail });
}
