/** Which rows are selected: by click, Shift-range, `x`, all. */
import { useCallback, useMemo, useRef, useState } from 'react';

export interface Selection {
  keys: ReadonlySet<string>;
  has: (key: string) => boolean;
  /** Adds or removes one; with `range` everything between it and the last one touched. */
  toggle: (key: string, range?: boolean) => void;
  all: () => void;
  clear: () => void;
}

/** The keys from one to another, in the order of the list. */
export function between(keys: readonly string[], from: string, to: string): string[] {
  const a = keys.indexOf(from);
  const b = keys.indexOf(to);
  if (a < 0 || b < 0) return [to];
  return keys.slice(Math.min(a, b), Math.max(a, b) + 1);
}

export function useSelection(keys: readonly string[]): Selection {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const last = useRef<string>(undefined);
  const toggle = useCallback(
    (key: string, range = false) => {
      setChosen((before) => {
        const after = new Set(before);
        if (range && last.current !== undefined)
          for (const each of between(keys, last.current, key)) after.add(each);
        else if (!after.delete(key)) after.add(key);
        return after;
      });
      if (!range) last.current = key;
    },
    [keys],
  );
  const all = useCallback(() => setChosen(new Set(keys)), [keys]);
  const clear = useCallback(() => setChosen(new Set()), []);
  return useMemo(
    () => ({ keys: chosen, has: (key) => chosen.has(key), toggle, all, clear }),
    [chosen, toggle, all, clear],
  );
}
