/** A flag outside React that parts can follow: something is open, or not. */
import { useSyncExternalStore } from 'react';

export function createSwitch() {
  let on = false;
  const listeners = new Set<() => void>();
  return {
    set(next: boolean) {
      on = next;
      for (const listener of listeners) listener();
    },
    use: () =>
      useSyncExternalStore(
        (listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
        () => on,
      ),
  };
}
