/** Workers that have said who they are. */
import { call, read } from '../client';
import type { Page, Schema } from '../types';

export type Worker = Schema<'Worker'>;

export interface WorkerFilter {
  status?: string;
  type?: string;
  q?: string;
}

export const workersKey = ['workers'];

/** A page of workers, by name. */
export async function readWorkers(
  filter: WorkerFilter,
  cursor: string | null,
  signal?: AbortSignal,
): Promise<Page<Worker>> {
  const page = await read('/api/workers', {
    query: {
      status: filter.status?.toUpperCase(),
      workerType: filter.type,
      q: filter.q,
      limit: 100,
      cursor,
    },
    signal,
  });
  return { items: page.items, next_cursor: page.nextCursor };
}

export const removeWorkerRequest = (id: string) => ({
  method: 'DELETE',
  path: `/api/workers/${encodeURIComponent(id)}`,
});

export function removeWorker(id: string): Promise<Schema<'WorkerRemoved'>> {
  const { method, path } = removeWorkerRequest(id);
  return call(method, path);
}
