/** Targets: the services that workflows call, and the circuit breakers before them. */
import { queryOptions } from '@tanstack/react-query';
import { call, read } from '../client';
import type { Schema } from '../types';

export type Target = Schema<'Target'>;
export type TargetAct = 'probe' | 'open' | 'close' | 'reset';

export interface TargetFilter {
  state?: string;
  q?: string;
}

export const targetsKey = ['targets'];
const PAGE_ROWS = 100;
const EVERY_MS = 15_000;

export function readTargets(filter: TargetFilter, cursor: string | null, signal?: AbortSignal) {
  const { state, q } = filter;
  return read('/api/targets', { query: { state, q, limit: PAGE_ROWS, cursor }, signal });
}

/** Those that are left alone, for the number beside the page's name. */
export const openTargets = queryOptions({
  queryKey: [...targetsKey, 'open'],
  queryFn: async ({ signal }) => {
    const query = { state: 'open,half_open', limit: PAGE_ROWS };
    return (await read('/api/targets', { query, signal })).items.length;
  },
  refetchInterval: EVERY_MS,
});

export const actRequest = (host: string, act: TargetAct) => ({
  method: 'POST',
  path: `/api/targets/${encodeURIComponent(host)}/${act}`,
});

export function actOnTarget(host: string, act: TargetAct): Promise<Target> {
  const { method, path } = actRequest(host, act);
  return call(method, path);
}
