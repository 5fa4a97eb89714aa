/** What this browser prefers: kept in localStorage, shared by its tabs. */
import { useSyncExternalStore } from 'react';

export interface Settings {
  theme: 'auto' | 'light' | 'dark';
  language: 'en' | 'zh-TW';
  /** `utc`, `browser`, or an IANA name. */
  zone: string;
  density: 'normal' | 'compact';
  navCollapsed: boolean;
  shortcuts: boolean;
}

const KEY = 'refire.settings';

const DEFAULTS: Settings = {
  theme: 'auto',
  language: globalThis.navigator?.language?.toLowerCase().startsWith('zh') ? 'zh-TW' : 'en',
  zone: 'browser',
  density: 'normal',
  navCollapsed: false,
  shortcuts: true,
};

function load(): Settings {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? '{}') };
  } catch {
    return DEFAULTS;
  }
}

let current = load();
const listeners = new Set<() => void>();

function publish(next: Settings) {
  current = next;
  for (const listener of listeners) listener();
}

globalThis.window?.addEventListener('storage', (event) => {
  if (event.key === KEY) publish(load());
});

export function settings(): Settings {
  return current;
}

export function changeSettings(change: Partial<Settings>) {
  publish({ ...current, ...change });
  try {
    localStorage.setItem(KEY, JSON.stringify(current));
  } catch {
    // A full or forbidden storage only means that the choice is not kept.
  }
}

export function onSettings(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useSettings(): Settings {
  return useSyncExternalStore(onSettings, settings);
}
