/** Numbers of the frame. */
import { queryOptions } from '@tanstack/react-query';
import { answer, api } from '../client';

const EVERY_MS = 15_000;

/** Dead letters that wait. */
export const letterCount = queryOptions({
  queryKey: ['dlq', 'waiting'],
  queryFn: async ({ signal }) => {
    const summary = await answer(
      api.GET('/api/dlq/summary', { params: { query: { status: ['pending'] } }, signal }),
    );
    return summary.count;
  },
  refetchInterval: EVERY_MS,
});
