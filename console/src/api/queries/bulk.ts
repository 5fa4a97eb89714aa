/** Bulk jobs: what the server does with many dead letters or executions, one after the other. */
import { queryOptions } from '@tanstack/react-query';
import { answer, api, call, read } from '../client';
import type { Schema } from '../types';

export type BulkJob = Schema<'BulkJob'>;
export type BulkItem = Schema<'BulkItem'>;
export type BulkPreview = Schema<'BulkPreview'>;
export type BulkSample = Schema<'BulkSample'>;
export type BulkAction = Schema<'BulkAction'>;
export type BulkOutcome = Schema<'BulkOutcome'>;

/** What a job is about: dead letters or executions. */
export type BulkKind = 'letters' | 'executions';

const PATHS: Record<BulkKind, string> = {
  letters: '/api/dlq/bulk',
  executions: '/api/executions/bulk',
};

/** Which things: by name, or all that pass a filter. */
export type BulkScope = { ids: string[] } | { filter: Record<string, string | number> };

export interface BulkWish {
  action: BulkAction;
  rate?: number;
  /** For retries. */
  from?: 'start' | 'failed_step';
  retries?: boolean;
  /** `{"merge": …}` or `{"template": …}` as it was typed, so that numbers stay exact. */
  transform?: string;
  /** For cancelling: undo completed steps. */
  compensate?: boolean;
}

/** The request of a job, the same for a dry run, for sending and for curl. */
export function bulkRequest(kind: BulkKind, scope: BulkScope, wish: BulkWish, dryRun = false) {
  const { transform, ...plain } = wish;
  const body = JSON.stringify({ ...scope, ...plain, ...(dryRun ? { dry_run: true } : {}) });
  return {
    method: 'POST',
    path: PATHS[kind],
    body: transform === undefined ? body : `${body.slice(0, -1)},"transform":${transform}}`,
  };
}

export function previewBulk(
  kind: BulkKind,
  scope: BulkScope,
  wish: BulkWish,
  signal: AbortSignal,
): Promise<BulkPreview> {
  const { method, path, body } = bulkRequest(kind, scope, wish, true);
  return call(method, path, { body, signal });
}

export function startBulk(kind: BulkKind, scope: BulkScope, wish: BulkWish) {
  const { method, path, body } = bulkRequest(kind, scope, wish);
  return call<Schema<'BulkStarted'>>(method, path, { body });
}

export const jobsKey = ['bulk'];
const PAGE_ROWS = 100;
const OPEN_EVERY_MS = 1_000;

export const isOver = (job: Pick<BulkJob, 'state'>) =>
  job.state === 'completed' || job.state === 'cancelled';

export function readJobs(state: string | undefined, cursor: string | null, signal?: AbortSignal) {
  return read('/api/bulk', { query: { state, limit: PAGE_ROWS, cursor }, signal });
}

/** Jobs that go on, for the number beside the page's name. */
export const openJobs = queryOptions({
  queryKey: [...jobsKey, 'open'],
  queryFn: async ({ signal }) =>
    (await read('/api/bulk', { query: { state: 'running', limit: PAGE_ROWS }, signal })).items
      .length,
  refetchInterval: 15_000,
});

export const jobQuery = (id: string) =>
  queryOptions({
    queryKey: [...jobsKey, 'one', id],
    queryFn: ({ signal }) => read('/api/bulk/{id}', { path: { id }, signal }),
    refetchInterval: (query) =>
      query.state.data && isOver(query.state.data) ? false : OPEN_EVERY_MS,
  });

export function readItems(
  id: string,
  outcome: string | undefined,
  cursor: string | null,
  signal?: AbortSignal,
) {
  return read('/api/bulk/{id}/items', {
    path: { id },
    query: { outcome, limit: PAGE_ROWS, cursor },
    signal,
  });
}

/** Things that one job can be told by name, at most. */
const MOST_IDS = 10_000;
const IDS_PAGE = 1_000;

/** The ids of a job's things with an outcome, up to what another job takes. */
export async function itemIds(id: string, outcome: BulkOutcome): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Schema<'Page_BulkItem'> = await read('/api/bulk/{id}/items', {
      path: { id },
      query: { outcome, limit: IDS_PAGE, cursor },
    });
    ids.push(...page.items.map((item) => item.id));
    cursor = page.next_cursor ?? null;
  } while (cursor && ids.length < MOST_IDS);
  return ids.slice(0, MOST_IDS);
}

export type JobChange = 'pause' | 'resume' | 'cancel';

export const changeRequest = (id: string, change: JobChange) => ({
  method: 'POST',
  path: `/api/bulk/${encodeURIComponent(id)}/${change}`,
});

export function changeJob(id: string, change: JobChange): Promise<BulkJob> {
  const { method, path } = changeRequest(id, change);
  return call(method, path);
}

export const runAgainRequest = (id: string) => ({
  method: 'POST',
  path: `/api/executions/${encodeURIComponent(id)}/run-again`,
});

export function runAgain(id: string) {
  return answer(api.POST('/api/executions/{id}/run-again', { params: { path: { id } } }));
}
