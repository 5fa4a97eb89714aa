/** The attempts of a dead letter, each with how long was waited before it. */
import type { Letter } from '@/api/queries/dlq';

export interface Attempt {
  /** 0 is the first try; from 1 on it is a retry. */
  retry: number;
  /** Milliseconds between the failure before and this attempt; nothing before the first. */
  waitedMs?: number;
  error: string;
  at: string;
}

/** A letter's history says of each failure how long was waited after it; people ask how long before. */
export function attemptsOf(history: Letter['retry_history']): Attempt[] {
  return history.map((entry, index) => {
    const before = index > 0 ? history[index - 1]?.delay : undefined;
    return {
      retry: index,
      waitedMs: before === null || before === undefined ? undefined : Number(before) * 1000,
      error: entry.error,
      at: entry.at,
    };
  });
}

/** The longest wait, for the bars beside the attempts. */
export function longestWait(attempts: Attempt[]): number {
  return Math.max(1, ...attempts.map((attempt) => attempt.waitedMs ?? 0));
}
