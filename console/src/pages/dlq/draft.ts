/** What somebody has typed for the retry of a letter. It survives reload and login, and ends with the retry. */
import { useCallback, useEffect, useState } from 'react';
import type { RetryFrom } from '@/api/queries/dlq';

export interface Draft {
  edited: boolean;
  text?: string;
  from?: RetryFrom;
  /** By the workflow's policy. */
  retries?: boolean;
}

const PREFIX = 'refire.letter.';
/** So many letters may have an unfinished edit; the oldest goes first. */
const MOST_DRAFTS = 50;
/** Longer texts are not kept: browsers have some five million characters for everything. */
const LONGEST_KEPT = 1_000_000;

interface Stored extends Draft {
  at: number;
}

function read(id: string): Draft | undefined {
  try {
    const stored = localStorage.getItem(PREFIX + id);
    return stored ? (JSON.parse(stored) as Stored) : undefined;
  } catch {
    return undefined;
  }
}

function makeRoom() {
  const all = Object.keys(localStorage)
    .filter((key) => key.startsWith(PREFIX))
    .map((key) => ({ key, at: (JSON.parse(localStorage.getItem(key) ?? '{}') as Stored).at ?? 0 }))
    .sort((a, b) => b.at - a.at);
  for (const { key } of all.slice(MOST_DRAFTS)) localStorage.removeItem(key);
}

/** Whether the draft is kept; it is not where the browser has no room for it. */
function write(id: string, draft: Draft): boolean {
  if ((draft.text?.length ?? 0) > LONGEST_KEPT) return false;
  try {
    localStorage.setItem(PREFIX + id, JSON.stringify({ ...draft, at: Date.now() }));
    makeRoom();
    return true;
  } catch {
    return false;
  }
}

/** Whether somebody has begun to edit the input of a letter. */
export const hasDraft = (id: string) => read(id)?.edited === true;

export function forgetDraft(id: string) {
  try {
    localStorage.removeItem(PREFIX + id);
  } catch {
    // Nothing was kept.
  }
}

export function useDraft(id: string) {
  const [draft, setDraft] = useState<Draft>(() => read(id) ?? { edited: false });
  const [kept, setKept] = useState(true);
  const change = useCallback(
    (next: Draft) => {
      setDraft(next);
      if (next.edited || next.from) setKept(write(id, next));
      else forgetDraft(id);
    },
    [id],
  );
  const clear = useCallback(() => {
    forgetDraft(id);
    setDraft({ edited: false });
    setKept(true);
  }, [id]);
  // What the browser cannot keep is at least not left by accident.
  useEffect(() => {
    if (kept) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', ask);
    return () => window.removeEventListener('beforeunload', ask);
  }, [kept]);
  return { draft, change, clear, kept };
}
