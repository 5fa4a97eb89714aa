/** Workflows: list, one, versions, what saving would change, saving, running, deleting. */
import { queryOptions } from '@tanstack/react-query';
import { answer, api, call, read } from '../client';
import { ApiProblem, type FieldProblem } from '../problem';
import type { Execution, Page, Schema } from '../types';

export type Version = Schema<'WorkflowVersion'>;
export type Change = Schema<'Change'>;
export type Saved = Schema<'WorkflowSaved'>;
export type Diff = Schema<'WorkflowDiff'>;
export type Trigger = Schema<'Trigger'>;
export type Retried = Schema<'RetriedExecution'>;
export type Timeline = Schema<'RetryTimeline'>;

export type Workflow = Schema<'Workflow'>;
export type WorkflowStats = NonNullable<Workflow['stats']>;
export interface WorkflowFilter {
  q?: string;
  sort?: string;
}

const PAGE_ROWS = 100;
const LIST_EVERY_MS = 10_000;
const path = (id: string, rest = '') => `/api/workflows/${encodeURIComponent(id)}${rest}`;

/** What the server takes a definition as. */
export type Format = 'json' | 'yaml';
const body = (text: string, format: Format) => ({
  body: text,
  headers: { 'content-type': `application/${format}` },
});

export const workflowsKey = ['workflows'];

/** A refusal of parameters: the server is older than the console. */
function isUnknownParameter(error: unknown): boolean {
  return error instanceof ApiProblem && error.code === 'RF0003' && /is unknown/.test(error.message);
}

/** A page of the list, with numbers beside each workflow where the server has them. */
export async function workflowPage(
  filter: WorkflowFilter,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Page<Workflow>> {
  const query = { ...filter, include: 'stats', limit: PAGE_ROWS, cursor };
  try {
    return await read('/api/workflows', { query, signal });
  } catch (error) {
    if (!isUnknownParameter(error)) throw error;
    const plain = { limit: PAGE_ROWS, cursor };
    const page = await read('/api/workflows', { query: plain, signal });
    const wanted = filter.q?.toLowerCase();
    if (!wanted) return page;
    const matches = (row: Workflow) =>
      `${row.workflow_id}\n${row.name}`.toLowerCase().includes(wanted);
    return { ...page, items: page.items.filter(matches) };
  }
}

export const workflowQuery = (id: string) =>
  queryOptions({
    queryKey: [...workflowsKey, 'one', id],
    queryFn: ({ signal }) =>
      answer(api.GET('/api/workflows/{id}', { params: { path: { id } }, signal })),
  });

/** The numbers of one workflow; nothing where the server has none. */
export const workflowStats = (id: string) =>
  queryOptions({
    queryKey: [...workflowsKey, 'stats', id],
    queryFn: async ({ signal }): Promise<WorkflowStats | null> => {
      const { items } = await workflowPage({ q: id }, null, signal);
      return items.find((row) => row.workflow_id === id)?.stats ?? null;
    },
    refetchInterval: LIST_EVERY_MS,
    retry: false,
  });

export const versionsQuery = (id: string) =>
  queryOptions({
    queryKey: [...workflowsKey, 'versions', id],
    queryFn: async ({ signal }) =>
      (await answer(api.GET('/api/workflows/{id}/versions', { params: { path: { id } }, signal })))
        .items,
  });

export const versionQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: [...workflowsKey, 'version', id, version],
    queryFn: ({ signal }) =>
      answer(
        api.GET('/api/workflows/{id}/versions/{version}', {
          params: { path: { id, version } },
          signal,
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const versionDiff = (id: string, from: number, to: number) =>
  queryOptions({
    queryKey: [...workflowsKey, 'diff', id, from, to],
    queryFn: ({ signal }) =>
      read('/api/workflows/{id}/diff', { path: { id }, query: { from, to }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** What saving a text would change; answers with the version that is current now. */
export function draftDiff(id: string, text: string, format: Format): Promise<Diff> {
  return call<Diff>('POST', path(id, '/diff'), body(text, format));
}

export interface Verdict {
  problems: FieldProblem[];
  notes: string[];
}

const PLACE = /\(line (\d+), column (\d+)\)/;

/** Checks a text: its problems with their places, and what is worth knowing about it. */
export async function judge(text: string, format: Format, signal?: AbortSignal): Promise<Verdict> {
  try {
    const saved = await call<Saved>('POST', '/api/workflows/validate', {
      ...body(text, format),
      signal,
    });
    return { problems: [], notes: saved.notes ?? [] };
  } catch (error) {
    if (!(error instanceof ApiProblem) || error.status !== 400) throw error;
    if (error.fields.length > 0) return { problems: [...error.fields], notes: [] };
    const [, line, column] = PLACE.exec(error.message) ?? [];
    const place = line ? { line: Number(line), column: Number(column) } : {};
    return { problems: [{ field: '', message: error.message, ...place }], notes: [] };
  }
}

/** Saves a text if `version` is still the newest, or if there is none (`new`); otherwise refused with 412. */
export function saveWorkflow(
  id: string,
  text: string,
  format: Format,
  version: number | 'new',
): Promise<Saved> {
  const sent = body(text, format);
  const condition: HeadersInit =
    version === 'new' ? { 'If-None-Match': '*' } : { 'If-Match': `"${version}"` };
  return call<Saved>('PUT', path(id), { ...sent, headers: { ...sent.headers, ...condition } });
}

export function deleteWorkflow(id: string): Promise<Schema<'WorkflowDeleted'>> {
  return call('DELETE', path(id));
}

/** The JSON Schema of definitions, for completion. */
export const schemaQuery = queryOptions({
  queryKey: ['schema', 'workflow'],
  queryFn: ({ signal }) => call<Record<string, unknown>>('GET', '/api/schema/workflow', { signal }),
  staleTime: Number.POSITIVE_INFINITY,
});

export const OPEN_STATUSES = 'pending,running,retrying,waiting,paused';

/** The open executions of a workflow, as many as one page has. */
export const openExecutions = (id: string) =>
  queryOptions({
    queryKey: ['executions', 'open', id],
    queryFn: ({ signal }) =>
      read('/api/executions', {
        query: { workflow: id, status: OPEN_STATUSES, limit: 100 },
        signal,
      }),
  });

/** The newest executions of a workflow. */
export const recentExecutions = (id: string, limit: number) =>
  queryOptions({
    queryKey: ['executions', 'recent', id, limit],
    queryFn: async ({ signal }) =>
      (
        await read('/api/executions', {
          query: { workflow: id, limit },
          signal,
        })
      ).items,
    refetchInterval: LIST_EVERY_MS,
  });

export const executionOf = (id: string) =>
  queryOptions({
    queryKey: ['executions', 'one', id, 'whole'],
    queryFn: ({ signal }) => read('/api/executions/{id}', { path: { id }, signal }),
  });

export const triggersOf = (id: string) =>
  queryOptions({
    queryKey: ['triggers', 'of', id],
    queryFn: async ({ signal }) =>
      (await read('/api/workflows/{id}/triggers', { path: { id }, query: { limit: 100 }, signal }))
        .items,
    refetchInterval: LIST_EVERY_MS,
  });

export const retriesOf = (id: string, limit: number) =>
  queryOptions({
    queryKey: ['retries', id, limit],
    queryFn: async ({ signal }) =>
      (
        await read('/api/retries', {
          query: { workflow: id, limit },
          signal,
        })
      ).items,
    refetchInterval: LIST_EVERY_MS,
  });

export const simulation = (policy: unknown) =>
  queryOptions({
    queryKey: ['retry', 'simulate', policy],
    queryFn: ({ signal }) =>
      call<Timeline>('POST', '/api/retry/simulate', { body: policy, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });

export interface RunOptions {
  /** The input's text, sent as it is. */
  input: string;
  priority?: number;
  delay?: string;
  key?: string;
  wait?: string;
}
export type Ran = Schema<'Accepted'> & Partial<Execution>;

export function runPath(id: string, { priority, delay, wait }: RunOptions): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries({ wait, priority, delay }))
    if (value !== undefined && value !== '') search.set(name, String(value));
  const query = search.toString();
  return path(id, '/execute') + (query ? `?${query}` : '');
}

/** Starts an execution; with `wait` the answer is the execution itself, if it ended in time. */
export function runWorkflow(id: string, options: RunOptions): Promise<Ran> {
  const headers = new Headers({ 'content-type': 'application/json' });
  if (options.key) headers.set('Idempotency-Key', options.key);
  return call<Ran>('POST', runPath(id, options), { body: options.input, headers });
}
