/** What an edited input changes: paths with old and new values. */
import { ExactNumber, parseExact } from '@/api/exact';

export interface Change {
  path: string;
  kind: 'added' | 'removed' | 'changed';
  old?: unknown;
  new?: unknown;
}

/** A text that is to be JSON: its value, or why it is none, and where. */
export type Parsed = { value: unknown; error?: undefined } | { error: string; at?: number };

export function parseInput(text: string): Parsed {
  if (text.trim() === '') return { error: '' };
  try {
    return { value: parseExact(text) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const at = /position (\d+)/.exec(message)?.[1];
    return { error: message, at: at === undefined ? undefined : Number(at) };
  }
}

/** `line 3, column 7` of a place in a text, both counted from one. */
export function placeOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  const line = before.split('\n').length;
  return { line, column: at - before.lastIndexOf('\n') };
}

const isPlain = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof ExactNumber);

function same(a: unknown, b: unknown): boolean {
  if (a instanceof ExactNumber || b instanceof ExactNumber) return String(a) === String(b);
  return a === b;
}

const step = (path: string, key: string) =>
  /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

/** Every difference, outermost first; values of the same kind are looked into. */
export function changesOf(before: unknown, after: unknown, path = '$'): Change[] {
  if (Array.isArray(before) && Array.isArray(after)) {
    const size = Math.max(before.length, after.length);
    return Array.from({ length: size }, (_, index) => index).flatMap((index) =>
      index >= before.length
        ? [{ path: `${path}[${index}]`, kind: 'added' as const, new: after[index] }]
        : index >= after.length
          ? [{ path: `${path}[${index}]`, kind: 'removed' as const, old: before[index] }]
          : changesOf(before[index], after[index], `${path}[${index}]`),
    );
  }
  if (isPlain(before) && isPlain(after)) {
    const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return keys.flatMap((key) =>
      !Object.hasOwn(before, key)
        ? [{ path: step(path, key), kind: 'added' as const, new: after[key] }]
        : !Object.hasOwn(after, key)
          ? [{ path: step(path, key), kind: 'removed' as const, old: before[key] }]
          : changesOf(before[key], after[key], step(path, key)),
    );
  }
  return same(before, after) ? [] : [{ path, kind: 'changed', old: before, new: after }];
}
