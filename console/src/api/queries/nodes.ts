/** The nodes that share the store. */
import { queryOptions } from '@tanstack/react-query';
import { answer, api } from '../client';
import type { Schema } from '../types';

export type Node = Omit<Schema<'Node'>, 'running' | 'holding'> & {
  running: number | null;
  holding: number | null;
  /** How long commits take there, the slowest of a hundred; only of a node that answers for itself. */
  commit_ms_p99?: number | null;
};

export const nodesQuery = queryOptions({
  queryKey: ['nodes'],
  queryFn: async ({ signal }) => (await answer(api.GET('/api/nodes', { signal }))).items as Node[],
  refetchInterval: 3_000,
});
