/** A form that is not saved yet: kept in the browser until it is. */
import { useCallback, useState } from 'react';

const PREFIX = 'refire.scheduled.';

export function useKeptForm<T>(name: string, initial: () => T) {
  const key = PREFIX + name;
  const [state, setState] = useState<{ value: T; dirty: boolean }>(() => {
    try {
      const stored = localStorage.getItem(key);
      if (stored) return { value: JSON.parse(stored) as T, dirty: true };
    } catch {
      // What cannot be read is begun anew.
    }
    return { value: initial(), dirty: false };
  });
  const change = useCallback(
    (value: T) => {
      setState({ value, dirty: true });
      try {
        localStorage.setItem(key, JSON.stringify(value));
      } catch {
        // Not kept, but used.
      }
    },
    [key],
  );
  const reset = useCallback(
    (value: T) => {
      setState({ value, dirty: false });
      localStorage.removeItem(key);
    },
    [key],
  );
  return { ...state, change, reset };
}
