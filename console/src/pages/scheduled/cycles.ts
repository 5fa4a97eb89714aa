/** Records of attempts, put together by cycle. */
import type { TaskRecord } from '@/api/queries/scheduled';

export interface Cycle {
  number: number;
  /** Of its newest attempt. */
  status: TaskRecord['executionStatus'];
  startedAt: string;
  retries: number;
}

/** Cycles of the given records, oldest first. Records come newest first. */
export function cyclesOf(records: readonly TaskRecord[]): Cycle[] {
  const cycles = new Map<number, Cycle>();
  for (const record of records) {
    const number = record.cycleNumber;
    if (number === null || number === undefined) continue;
    const known = cycles.get(number);
    if (!known)
      cycles.set(number, {
        number,
        status: record.executionStatus,
        startedAt: record.executionStartedAt,
        retries: record.isRetry ? 1 : 0,
      });
    else {
      if (record.isRetry) known.retries += 1;
      if (record.executionStartedAt < known.startedAt) known.startedAt = record.executionStartedAt;
    }
  }
  return [...cycles.values()].sort((a, b) => a.number - b.number);
}

/** How long an attempt took, in milliseconds; nothing while it is open. */
export function tookMs(record: TaskRecord): number | undefined {
  if (!record.executionCompletedAt) return undefined;
  const ms = Date.parse(record.executionCompletedAt) - Date.parse(record.executionStartedAt);
  return Number.isNaN(ms) ? undefined : Math.max(0, ms);
}

/** `exec_…` without the number of the attempt. */
export const executionOf = (record: Pick<TaskRecord, 'id'>) => record.id.replace(/-\d+$/, '');
