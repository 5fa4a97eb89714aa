/** What the server says of a text while it is being typed. */
import { useEffect, useState } from 'react';
import type { FieldProblem } from '@/api/problem';
import { isJson } from './yaml';

export interface Verdict {
  problems: FieldProblem[];
  /** What is allowed but worth knowing. */
  notes: string[];
}

export type Check = (
  text: string,
  format: 'json' | 'yaml',
  signal: AbortSignal,
) => Promise<Verdict>;

/** The server is asked when typing pauses for so long. */
const PAUSE_MS = 300;

export interface Judged extends Partial<Verdict> {
  /** The text is newer than the verdict. */
  checking: boolean;
  /** The server could not be asked. */
  error?: unknown;
}

export const formatOf = (text: string): 'json' | 'yaml' => (isJson(text) ? 'json' : 'yaml');

export function useVerdict(text: string, check: Check | undefined): Judged {
  const [judged, setJudged] = useState<Judged & { text?: string }>({ checking: true });
  const [again, setAgain] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `again` asks once more after a failure
  useEffect(() => {
    if (!check) return;
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        setJudged({ ...(await check(text, formatOf(text), stop.signal)), text, checking: false });
      } catch (error) {
        if (!stop.signal.aborted) setJudged({ error, text, checking: false });
      }
    }, PAUSE_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [text, check, again]);
  const failed = judged.error !== undefined;
  useEffect(() => {
    if (!failed) return;
    const timer = setTimeout(() => setAgain((count) => count + 1), 10 * PAUSE_MS);
    return () => clearTimeout(timer);
  }, [failed]);
  return { ...judged, checking: judged.text !== text };
}
