/** What somebody types and has not saved: kept in this browser, so that reload and login lose nothing. */
import { useCallback, useEffect, useRef, useState } from 'react';

export interface Draft {
  text: string;
  /** The version that it began with; nothing for a new workflow. */
  version?: number;
}

const PREFIX = 'refire.draft.';
const KEEP_AFTER_MS = 250;

function read(name: string): Draft | undefined {
  try {
    const stored = localStorage.getItem(PREFIX + name);
    const draft = stored ? (JSON.parse(stored) as Draft) : undefined;
    return typeof draft?.text === 'string' ? draft : undefined;
  } catch {
    return undefined;
  }
}

/** Whether it is kept; it is not where the browser has no room or forbids it. */
function write(name: string, draft: Draft | undefined): boolean {
  try {
    if (draft) localStorage.setItem(PREFIX + name, JSON.stringify(draft));
    else localStorage.removeItem(PREFIX + name);
    return true;
  } catch {
    return false;
  }
}

export function hasDraft(name: string): boolean {
  return read(name) !== undefined;
}

export function forgetDraft(name: string) {
  write(name, undefined);
}

export interface DraftState {
  draft: Draft | undefined;
  change: (draft: Draft | undefined) => void;
  /** False when the browser could not keep it. */
  kept: boolean;
}

export function useDraft(name: string): DraftState {
  const [draft, setDraft] = useState(() => read(name));
  const [kept, setKept] = useState(true);
  const waiting = useRef<{ timer: ReturnType<typeof setTimeout>; write: () => void }>(undefined);
  const flush = useCallback(() => {
    const pending = waiting.current;
    if (!pending) return;
    clearTimeout(pending.timer);
    waiting.current = undefined;
    pending.write();
  }, []);
  useEffect(() => {
    window.addEventListener('pagehide', flush);
    return () => {
      window.removeEventListener('pagehide', flush);
      flush();
    };
  }, [flush]);
  const change = useCallback(
    (next: Draft | undefined) => {
      setDraft(next);
      if (waiting.current) clearTimeout(waiting.current.timer);
      const keep = () => setKept(write(name, next));
      waiting.current = {
        write: keep,
        timer: setTimeout(() => {
          waiting.current = undefined;
          keep();
        }, KEEP_AFTER_MS),
      };
      // Forgetting must not be overtaken by a page that goes away.
      if (!next) flush();
    },
    [name, flush],
  );
  return { draft, change, kept };
}
