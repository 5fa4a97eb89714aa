/** The colour scheme in use: the chosen one, or the machine's. */
import { useSyncExternalStore } from 'react';
import { useSettings } from '@/settings/settings';

const dark = globalThis.matchMedia?.('(prefers-color-scheme: dark)');

function subscribe(listener: () => void) {
  dark?.addEventListener('change', listener);
  return () => dark?.removeEventListener('change', listener);
}

export function useScheme(): 'light' | 'dark' {
  const machine = useSyncExternalStore(subscribe, () => dark?.matches ?? false);
  const { theme } = useSettings();
  if (theme !== 'auto') return theme;
  return machine ? 'dark' : 'light';
}
