/** Names for suggestions in filters. */
import { queryOptions } from '@tanstack/react-query';
import { answer, api } from '../client';

const MOST_NAMES = 500;

export const workflowNames = queryOptions({
  queryKey: ['workflows', 'names'],
  queryFn: async ({ signal }) => {
    const page = await answer(
      api.GET('/api/workflows', { params: { query: { limit: MOST_NAMES } }, signal }),
    );
    return page.items.map((each) => each.workflow_id);
  },
  staleTime: 30_000,
});
