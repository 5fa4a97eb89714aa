/** Whether the server answers: one flag for the bar under the header. */
import { useSyncExternalStore } from 'react';

let lostSince: number | undefined;
const listeners = new Set<() => void>();

function publish(next: number | undefined) {
  if (next === lostSince) return;
  lostSince = next;
  for (const listener of listeners) listener();
}

export const reached = () => publish(undefined);
export const unreachable = () => publish(lostSince ?? Date.now());

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Since when the server does not answer, by this machine's clock; nothing while it does. */
export function useLostSince(): number | undefined {
  return useSyncExternalStore(subscribe, () => lostSince);
}
