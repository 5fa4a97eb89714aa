/** The time line of retries on an axis, linear or logarithmic. */
import type { Retried, Timeline } from '@/api/queries/workflows';

export interface Wait {
  retry: number;
  /** Shares of the axis, 0 to 1. */
  from: number;
  to: number;
  /** The earliest and the latest time of the retry. */
  earliest: number;
  latest: number;
}

/** On a logarithmic axis times below this are one. */
const SMALLEST_MS = 100;

function scaleOf(longest: number, log: boolean): (ms: number) => number {
  if (longest <= 0) return () => 0;
  if (!log) return (ms) => Math.min(1, ms / longest);
  const top = Math.log(longest / SMALLEST_MS + 1);
  return (ms) => Math.min(1, Math.log(ms / SMALLEST_MS + 1) / top);
}

export function waitsOf(timeline: Timeline, log: boolean): Wait[] {
  const place = scaleOf(timeline.total_max_ms, log);
  let at = 0;
  let least = 0;
  let most = 0;
  return timeline.retries.map((retry) => {
    const from = place(at);
    at = retry.at_ms;
    least += retry.min_ms;
    most += retry.max_ms;
    return { retry: retry.retry, from, to: place(at), earliest: place(least), latest: place(most) };
  });
}

export interface Recovery {
  retry: number;
  /** How many executions completed with this retry. */
  count: number;
  /** The share of all retried ones that had completed by then. */
  share: number;
}

/** By which retry how many executions recovered. Those that are still open do not count. */
export function recoveryOf(rows: readonly Retried[]): { ended: number; by: Recovery[] } {
  const ended = rows.filter((row) => /^(completed|failed|dlq|cancelled)$/.test(row.status));
  const counts = new Map<number, number>();
  for (const row of ended)
    if (row.status === 'completed')
      counts.set(row.retry_count, (counts.get(row.retry_count) ?? 0) + 1);
  let sum = 0;
  const by = [...counts.entries()]
    .sort(([a], [b]) => a - b)
    .map(([retry, count]) => {
      sum += count;
      return { retry, count, share: sum / ended.length };
    });
  return { ended: ended.length, by };
}
