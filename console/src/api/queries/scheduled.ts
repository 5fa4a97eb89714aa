/** Scheduled tasks and the records of their attempts. */
import { queryOptions } from '@tanstack/react-query';
import { answerWithHeaders, api, call, read } from '../client';
import type { Page, Schema } from '../types';

export type ScheduledTask = Schema<'ScheduledTask'>;
export type TaskRecord = Schema<'TaskRecord'>;

export interface ScheduledFilter {
  type?: string;
  schedule?: string;
  active?: string;
  finished?: string;
  q?: string;
}

export interface RecordFilter {
  cycle?: string;
  status?: string;
  retry?: string;
}

const EVERY_MS = 5_000;
export const scheduledKey = ['scheduled'];

/** A page of tasks, newest first. */
export async function readScheduled(
  filter: ScheduledFilter,
  cursor: string | null,
  signal?: AbortSignal,
): Promise<Page<ScheduledTask>> {
  const page = await read('/api/scheduled-tasks', {
    query: {
      taskType: filter.type,
      scheduleType: filter.schedule,
      isActive: filter.active,
      isFinished: filter.finished,
      q: filter.q,
      limit: 100,
      cursor,
    },
    signal,
  });
  return { items: page.items, next_cursor: page.nextCursor };
}

/** A task with the tag that `If-Match` wants. */
export const scheduledQuery = (id: string) =>
  queryOptions({
    queryKey: [...scheduledKey, 'one', id],
    queryFn: async ({ signal }) => {
      const { value, headers } = await answerWithHeaders(
        api.GET('/api/scheduled-tasks/{id}', { params: { path: { id } }, signal }),
      );
      return { task: value, tag: headers.get('etag') ?? `"${value.version}"` };
    },
    refetchInterval: EVERY_MS,
  });

/** A page of a task's attempts, newest first. */
export async function readRecords(
  id: string,
  filter: RecordFilter,
  cursor: string | null,
  signal?: AbortSignal,
): Promise<Page<TaskRecord>> {
  const page = await read('/task-history/{taskId}', {
    path: { taskId: id },
    query: {
      cycle: filter.cycle,
      status: filter.status,
      isRetry: filter.retry,
      limit: 50,
      cursor,
    },
    signal,
  });
  return { items: page.items, next_cursor: page.nextCursor };
}

/** Asks the target now how an attempt goes. */
export function queryTarget(taskId: string, recordId: string): Promise<Schema<'TaskStatusAnswer'>> {
  return call(
    'GET',
    `/task-history/${encodeURIComponent(taskId)}/${encodeURIComponent(recordId)}/status`,
  );
}

export const createRequest = (body: string) => ({ method: 'POST', path: '/schedule-task', body });

/** Makes a task. The key is made once per form, so that a repeated press makes no second task. */
export function createTask(body: string, key: string): Promise<Schema<'ScheduledTaskCreated'>> {
  return call('POST', '/schedule-task', { body, headers: { 'Idempotency-Key': key } });
}

export function changeTask(id: string, patch: string, tag: string): Promise<ScheduledTask> {
  return call('PATCH', `/api/scheduled-tasks/${encodeURIComponent(id)}`, {
    body: patch,
    headers: { 'If-Match': tag },
  });
}

export type TaskAction = 'pause' | 'resume' | 'cancel' | 'run';

export const actionRequest = (id: string, action: TaskAction, keepRunning = false) => ({
  method: 'POST',
  path: `/api/scheduled-tasks/${encodeURIComponent(id)}/${action}${keepRunning ? '?keepRunning=true' : ''}`,
});

export const removeRequest = (id: string) => ({
  method: 'DELETE',
  path: `/api/scheduled-tasks/${encodeURIComponent(id)}`,
});

export function actOnTask<T>(request: { method: string; path: string }): Promise<T> {
  return call(request.method, request.path);
}
