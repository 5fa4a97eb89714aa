/** What the first page shows: counts, trouble, the next fires. Parts that a server lacks are null. */
import { queryOptions } from '@tanstack/react-query';
import { answer, api, read } from '../client';
import { ApiProblem } from '../problem';
import type { Schema } from '../types';

const EVERY_MS = 5_000;
/** What a server does not know is not asked for again. */
const unlessUnknown = (query: { state: { data?: unknown } }) =>
  query.state.data === null ? (false as const) : EVERY_MS;

export type Overview = Schema<'Overview'>;
export type Trouble = Schema<'TroubleEntry'>;
export type Upcoming = Schema<'UpcomingFire'>;

/** Null where the server does not know the address: an older one than this console. */
async function known<T>(sent: Promise<T>): Promise<T | null> {
  try {
    return await sent;
  } catch (error) {
    if (error instanceof ApiProblem && [400, 404, 405].includes(error.status)) return null;
    throw error;
  }
}

export const overviewQuery = (range: string) =>
  queryOptions({
    queryKey: ['overview', range],
    queryFn: ({ signal }) => known(read('/api/overview', { query: { range }, signal })),
    refetchInterval: unlessUnknown,
  });

export const troubleQuery = queryOptions({
  queryKey: ['trouble'],
  queryFn: ({ signal }) => known(read('/api/trouble', { signal })),
  refetchInterval: unlessUnknown,
});

export const upcomingQuery = (limit: number) =>
  queryOptions({
    queryKey: ['triggers', 'upcoming', limit],
    queryFn: ({ signal }) => known(read('/api/triggers/upcoming', { query: { limit }, signal })),
    refetchInterval: unlessUnknown,
  });

/** Whether anything was ever done here: without a workflow the page shows how to begin. */
export const anyWorkflow = queryOptions({
  queryKey: ['workflows', 'any'],
  queryFn: async ({ signal }) => {
    const page = await answer(
      api.GET('/api/workflows', { params: { query: { limit: 1 } }, signal }),
    );
    return page.items.length > 0;
  },
  refetchInterval: EVERY_MS,
});
