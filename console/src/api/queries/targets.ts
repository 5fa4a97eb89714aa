/** Targets: the services that workflows call, and the circuit breakers before them. */
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

export function readTargets(filter: TargetFilter, cursor: string | null, signal?: AbortSignal) {
  const { state, q } = filter;
  return read('/api/targets', { query: { state, q, limit: PAGE_ROWS, cursor }, signal });
}

export const actRequest = (host: string, act: TargetAct) => ({
  method: 'POST',
  path: `/api/targets/${encodeURIComponent(host)}/${act}`,
});

export function actOnTarget(host: string, act: TargetAct): Promise<Target> {
  const { method, path } = actRequest(host, act);
  return call(method, path);
}
