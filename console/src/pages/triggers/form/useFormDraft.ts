/**
 * What is typed into a form: kept in the browser until it is saved or thrown away, so that a reload or
 * a new login loses nothing. What others save meanwhile is taken over as long as nothing is typed.
 */
import { useEffect, useMemo, useRef, useState } from 'react';
import { parseExact, stringifyExact } from '@/api/exact';

interface Stored<T> {
  draft: T;
  /** The version of the object that it was typed over. */
  version: number;
  at: number;
}

const PREFIX = 'refire.draft.';
/** Older drafts are forgotten. */
const KEPT_MS = 7 * 24 * 3_600_000;

/** Keys of rows only order the page. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (name, inner) => (name === 'key' ? undefined : inner));
}

export function sameDraft(one: unknown, other: unknown): boolean {
  return textOf(one) === textOf(other);
}

export function readDraft<T>(key: string, now = Date.now()): Stored<T> | undefined {
  try {
    const stored = localStorage.getItem(PREFIX + key);
    if (!stored) return undefined;
    const found = parseExact(stored) as Stored<T>;
    if (now - found.at < KEPT_MS && typeof found.draft === 'object') return found;
    localStorage.removeItem(PREFIX + key);
  } catch {
    // Unreadable or forbidden: there is no draft.
  }
  return undefined;
}

function keepDraft<T>(key: string, stored: Stored<T> | undefined) {
  try {
    if (stored) localStorage.setItem(PREFIX + key, stringifyExact(stored));
    else localStorage.removeItem(PREFIX + key);
  } catch {
    // Not kept, but still on the page.
  }
}

export interface FormDraft<T> {
  draft: T;
  change: (part: Partial<T>) => void;
  dirty: boolean;
  /** When what is shown was typed, if it comes from an earlier visit. */
  restored: number | undefined;
  /** The version that was edited; another one on the server is a conflict. */
  version: number;
  /** Back to what the server has. */
  discard: () => void;
  /** It was saved: this is now what the server has. */
  saved: (value: T, version: number) => void;
}

export function useFormDraft<T extends object>(
  key: string,
  server: T,
  version: number,
): FormDraft<T> {
  const [stored] = useState(() => readDraft<T>(key));
  const [base, setBase] = useState({ value: server, version: stored?.version ?? version });
  const [draft, setDraft] = useState<T>(() => (stored ? { ...server, ...stored.draft } : server));
  const [restored, setRestored] = useState(stored?.at);
  const at = useRef(stored?.at ?? 0);
  const dirty = useMemo(() => !sameDraft(draft, base.value), [draft, base.value]);

  if (!dirty && version > base.version) {
    setBase({ value: server, version });
    setDraft(server);
  }

  useEffect(() => {
    keepDraft(
      key,
      dirty ? { draft, version: base.version, at: at.current || Date.now() } : undefined,
    );
  }, [key, draft, dirty, base.version]);

  return {
    draft,
    change: (part) => {
      at.current = Date.now();
      setDraft((before) => ({ ...before, ...part }));
    },
    dirty,
    restored: dirty ? restored : undefined,
    version: base.version,
    discard: () => {
      setBase({ value: server, version });
      setDraft(server);
      setRestored(undefined);
      keepDraft(key, undefined);
    },
    saved: (value, savedVersion) => {
      setBase({ value, version: savedVersion });
      setDraft(value);
      setRestored(undefined);
      keepDraft(key, undefined);
    },
  };
}
