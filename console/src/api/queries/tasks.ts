/** External tasks: by type, the list, one, and what a person may do with one. */
import { queryOptions } from '@tanstack/react-query';
import { answer, api, call, read } from '../client';
import { ApiProblem } from '../problem';
import type { Page, Schema } from '../types';

export type ExternalTask = Schema<'Task'>;

export interface TaskFilter {
  type?: string;
  status?: string;
  worker?: string;
  execution?: string;
}

export interface TaskTypeSummary {
  taskType: string;
  pending: number;
  locked: number;
  oldestPendingAt: string | null;
  workers: number;
}

const EVERY_MS = 3_000;
export const tasksKey = ['external-tasks'];

/** A page of tasks, newest first. */
export async function readTasks(
  filter: TaskFilter,
  cursor: string | null,
  signal?: AbortSignal,
): Promise<Page<ExternalTask>> {
  const page = await read('/api/external-tasks', {
    query: {
      taskType: filter.type,
      status: filter.status?.toUpperCase(),
      workerId: filter.worker,
      executionId: filter.execution,
      limit: 100,
      cursor,
    },
    signal,
  });
  return { items: page.items, next_cursor: page.nextCursor };
}

/** Rows that are read again one by one, at most. */
const MOST_AGAIN = 10;

/** Tasks by id: those that may have changed and are no longer on the first page. */
export function readTasksAgain(ids: string[], signal?: AbortSignal): Promise<ExternalTask[]> {
  return Promise.all(
    ids
      .slice(0, MOST_AGAIN)
      .map((id) =>
        answer(api.GET('/api/external-tasks/{id}', { params: { path: { id } }, signal })),
      ),
  );
}

/** Null where the server has no such summary. */
export const taskSummary = queryOptions({
  queryKey: [...tasksKey, 'summary'],
  queryFn: async ({ signal }) => {
    try {
      return await call<{ items: TaskTypeSummary[] }>('GET', '/api/external-tasks/summary', {
        signal,
      });
    } catch (error) {
      if (error instanceof ApiProblem && (error.status === 404 || error.status === 400))
        return null;
      throw error;
    }
  },
  refetchInterval: (query) => (query.state.data === null ? false : EVERY_MS),
});

export const taskQuery = (id: string) =>
  queryOptions({
    queryKey: [...tasksKey, 'one', id],
    queryFn: ({ signal }) =>
      answer(api.GET('/api/external-tasks/{id}', { params: { path: { id } }, signal })),
    refetchInterval: EVERY_MS,
  });

const pathOf = (id: string, action: string) =>
  `/api/external-tasks/${encodeURIComponent(id)}/${action}`;

export const unlockRequest = (id: string) => ({ method: 'POST', path: pathOf(id, 'unlock') });
/** The output goes as it was typed, so that numbers stay exact. */
export const completeRequest = (id: string, output: string) => ({
  method: 'POST',
  path: pathOf(id, 'complete'),
  body: output,
});
export const failRequest = (id: string, failure: Schema<'FailTask'>) => ({
  method: 'POST',
  path: pathOf(id, 'fail'),
  body: failure,
});

/** Sends one of the requests above. */
export function act(request: { method: string; path: string; body?: unknown }): Promise<void> {
  return call(request.method, request.path, { body: request.body });
}
