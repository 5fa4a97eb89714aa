/** Small values that belong to one part of a page (columns, open panels), kept in localStorage. */
import { useCallback, useState } from 'react';

export function useKept<T>(name: string, initial: T): [T, (value: T) => void] {
  const key = `refire.${name}`;
  const [value, setValue] = useState<T>(() => {
    try {
      const stored = localStorage.getItem(key);
      return stored === null ? initial : (JSON.parse(stored) as T);
    } catch {
      return initial;
    }
  });
  const change = useCallback(
    (next: T) => {
      setValue(next);
      try {
        localStorage.setItem(key, JSON.stringify(next));
      } catch {
        // Not kept, but used.
      }
    },
    [key],
  );
  return [value, change];
}
