/** A value that follows another once it stands still for a moment. */
import { useEffect, useState } from 'react';

const QUIET_MS = 300;

export function useSettled<T>(value: T, same: (one: T, other: T) => boolean): T {
  const [settled, setSettled] = useState(value);
  const still = same(value, settled);
  useEffect(() => {
    if (still) return;
    const timer = setTimeout(() => setSettled(value), QUIET_MS);
    return () => clearTimeout(timer);
  }, [value, still]);
  return still ? value : settled;
}
