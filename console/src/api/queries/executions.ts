/** Executions: pages, counts, one with its attempts and events, and what can be done with it. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { serverNow } from '@/live/clock';
import { absoluteTime } from '@/time/range';
import { answer, api, call } from '../client';
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

function asked(filter: ExecutionFilter) {
  const { from, to, ...rest } = filter;
  const now = serverNow();
  return { ...rest, from: absoluteTime(from, now), to: absoluteTime(to, now) };
}

export const executionKeys = {
  list: (filter: ExecutionFilter) => ['executions', filter] as const,
  one: (id: string) => ['execution', id] as const,
};

export function executionPage(
  filter: ExecutionFilter,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Page<Execution>> {
  return call('GET', '/api/executions', {
    query: { ...asked(filter), limit: PAGE_ROWS, cursor },
    signal,
  });
}

export async function executionsByIds(ids: string[], signal: AbortSignal): Promise<Execution[]> {
  const page = await call<Page<Execution>>('GET', '/api/executions', {
    query: { ids: ids.join(','), limit: PAGE_ROWS },
    signal,
  });
  return page.items;
}

export interface ExecutionCount {
  total: number;
  exact: boolean;
  by_status: Record<string, number>;
  searched_to?: string | null;
}

export function executionCount(filter: ExecutionFilter, everyMs: number) {
  return queryOptions({
    queryKey: ['executions', filter, 'count'],
    queryFn: ({ signal }) =>
      call<ExecutionCount>('GET', '/api/executions/count', { query: asked(filter), signal }),
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

const EVENTS_PAGE = 1_000;
/** More events than this are not read by the page; the log can be downloaded. */
export const MOST_EVENTS = 20_000;

/** The whole log, oldest first, up to a bound. */
export function eventsQuery(id: string) {
  return queryOptions({
    queryKey: [...executionKeys.one(id), 'events'],
    queryFn: async ({ signal }) => {
      const events: Event[] = [];
      let cursor: string | undefined;
      do {
        const page = await answer(
          api.GET('/api/executions/{id}/events', {
            params: { path: { id }, query: { limit: EVENTS_PAGE, cursor } },
            signal,
          }),
        );
        events.push(...page.items);
        cursor = page.next_cursor ?? undefined;
      } while (cursor && events.length < MOST_EVENTS);
      return events;
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
