/** Executions: pages, counts, one with its attempts and events, and what can be done with it. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { answer, api, call, read } from '../client';
import { pageOf, stretchOf } from '../stretch';
import type { ErrorInfo, Event, Execution, Page } from '../types';

/** The filter as the URL has it; times may be relative. */
export interface ExecutionFilter {
  status?: string;
  workflow?: string;
  trigger?: string;
  trigger_type?: string;
  error_type?: string;
  version?: string;
  key?: string;
  q?: string;
  from?: string;
  to?: string;
}

const PAGE_ROWS = 100;

export const executionKeys = {
  list: (filter: ExecutionFilter) => ['executions', filter] as const,
  one: (id: string) => ['execution', id] as const,
};

export function executionPage(
  filter: ExecutionFilter,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Page<Execution>> {
  return pageOf(filter, cursor, (asked) =>
    read('/api/executions', { query: { ...asked, limit: PAGE_ROWS, cursor }, signal }),
  );
}

export async function executionsByIds(ids: string[], signal: AbortSignal): Promise<Execution[]> {
  const query = { ids: ids.join(','), limit: PAGE_ROWS };
  const page = await read('/api/executions', { query, signal });
  return page.items;
}

export function executionCount(filter: ExecutionFilter, everyMs: number) {
  return queryOptions({
    queryKey: ['executions', filter, 'count'],
    queryFn: ({ signal }) =>
      read('/api/executions/count', { query: { ...filter, ...stretchOf(filter) }, signal }),
    refetchInterval: everyMs,
    placeholderData: keepPreviousData,
    retry: false,
  });
}

export function executionQuery(id: string) {
  return queryOptions({
    queryKey: executionKeys.one(id),
    queryFn: ({ signal }) =>
      answer(api.GET('/api/executions/{id}', { params: { path: { id } }, signal })),
  });
}

export interface Attempt {
  step_id: string;
  attempt: number;
  status: 'planned' | 'waiting' | 'running' | 'completed' | 'failed' | 'lost' | 'cancelled';
  compensation: boolean;
  scheduled_at: string;
  due_at: string | null;
  started_at: string | null;
  ended_at: string | null;
  duration_ms: number | null;
  backoff_ms: number | null;
  retryable: boolean | null;
  early: boolean;
  error: ErrorInfo | null;
  /** The beginning of what the target answered to an attempt that failed. */
  response: string | null;
  node_id: string | null;
  worker_id: string | null;
  task_id: string | null;
}

export function attemptsQuery(id: string) {
  return queryOptions({
    queryKey: [...executionKeys.one(id), 'attempts'],
    queryFn: async ({ signal }) => {
      const list = await call<{ items: Attempt[] }>('GET', `/api/executions/${id}/attempts`, {
        signal,
      });
      return list.items;
    },
  });
}

export type ExecutionAct = 'pause' | 'resume' | 'retry-now' | 'cancel' | 'cancel-compensate';

/** The request of an action, the same for sending and for curl. */
export function actRequest(id: string, act: ExecutionAct): { method: string; path: string } {
  const base = `/api/executions/${id}`;
  if (act === 'cancel-compensate')
    return { method: 'POST', path: `${base}/cancel?compensate=true` };
  return { method: 'POST', path: `${base}/${act}` };
}

export function actOnExecution(id: string, act: ExecutionAct): Promise<Execution> {
  const { method, path } = actRequest(id, act);
  return call(method, path);
}

export interface ReplayResult {
  identical: boolean;
  events: number;
  first_difference?: {
    sequence: number;
    note?: string | null;
    recorded?: Event | null;
    derived?: Event | null;
  } | null;
}

/** Derives the log again: by the recorded definition, or by another one (its text). */
export function replay(id: string, definition?: string): Promise<ReplayResult> {
  return call('POST', `/api/executions/${id}/replay`, { body: { definition } });
}

/** The text of the definition an execution runs by. */
export function definitionQuery(workflow: string, version: number) {
  return queryOptions({
    queryKey: ['workflow', workflow, 'version', version],
    queryFn: async ({ signal }) => {
      const found = await answer(
        api.GET('/api/workflows/{id}/versions/{version}', {
          params: { path: { id: workflow, version } },
          signal,
        }),
      );
      return found.source ?? '';
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
}
