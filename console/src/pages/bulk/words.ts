/** A job in words: what it does, and with what. */
import type { BulkJob, BulkKind } from '@/api/queries/bulk';
import { t, word } from '@/i18n/t';
import { formatDuration } from '@/time/format';

/** What a job's things are. */
export const kindOf = (job: Pick<BulkJob, 'action'>): BulkKind =>
  /^(retry|delete|purge)$/.test(job.action) ? 'letters' : 'executions';

/** The filter as the job has it, one part after the other; or how many are named. */
export function scopeWords(job: Pick<BulkJob, 'filter' | 'ids'>): string {
  if (!job.filter) return t('bulk.byIds', { count: job.ids ?? 0 });
  return Object.entries(job.filter)
    .map(([name, value]) => `${name}: ${value}`)
    .join(' · ');
}

export const titleOf = (job: Pick<BulkJob, 'action'>) =>
  `${word('bulk.do', job.action)} · ${t(kindOf(job) === 'letters' ? 'bulk.letters' : 'bulk.executions')}`;

/** The share that is done, 0 to 100; nothing while it is not known how many there are. */
export function shareOf(job: Pick<BulkJob, 'done' | 'total' | 'state'>): number | undefined {
  if (job.state === 'completed') return 100;
  if (job.total === null || job.total === undefined) return undefined;
  return job.total === 0 ? 100 : Math.min(100, (job.done / job.total) * 100);
}

/** How long what is left takes at the job's rate. */
export function leftWords(job: BulkJob): string | undefined {
  if (job.state !== 'running' || job.total === null || job.total === undefined) return undefined;
  const left = Math.max(0, job.total - job.done);
  return left === 0
    ? undefined
    : t('bulk.left', { time: formatDuration(Math.max(1_000, (left / job.rate) * 1_000)) });
}
