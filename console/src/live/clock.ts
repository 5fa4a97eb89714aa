/** The server's clock: countdowns and ages are right even where this machine's clock is not. */
import { useSyncExternalStore } from 'react';

let offsetMs = 0;
let known = false;

/**
 * Learns the offset from an answer. Dates of answers have whole seconds, so a date only corrects the
 * offset when it is out by more than two; an exact time from the session always does.
 */
export function learnServerTime(iso: string | null, exact = false) {
  if (!iso) return;
  const at = Date.parse(iso);
  if (Number.isNaN(at)) return;
  const seen = at - Date.now() + (exact ? 0 : 500);
  if (exact || !known || Math.abs(seen - offsetMs) > 2_000) {
    offsetMs = seen;
    known = true;
  }
}

/** Now, by the server's clock. */
export function serverNow(): number {
  return Date.now() + offsetMs;
}

const TICK_MS = 1_000;
const listeners = new Set<() => void>();
let timer: ReturnType<typeof setInterval> | undefined;
let tick = serverNow();

function subscribe(listener: () => void) {
  listeners.add(listener);
  tick = serverNow();
  timer ??= setInterval(() => {
    tick = serverNow();
    for (const each of listeners) each();
  }, TICK_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      clearInterval(timer);
      timer = undefined;
    }
  };
}

/** Now, once a second, the same instant in every part of the page. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => tick);
}
