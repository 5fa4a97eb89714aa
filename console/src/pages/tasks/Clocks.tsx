/** The clocks of a task: its lock, its heartbeat, its progress. */
import type { ExternalTask } from '@/api/queries/tasks';
import { t } from '@/i18n/t';
import { useNow } from '@/live/clock';
import { formatCountdown, formatDuration } from '@/time/format';
import classes from './tasks.module.css';

/** What is left of the lock; for a task that waits, when it can be fetched or times out. */
export function LockClock({ task }: { task: ExternalTask }) {
  const now = useNow();
  if (task.status === 'LOCKED' && task.lockExpiresAt) {
    const left = Date.parse(task.lockExpiresAt) - now;
    if (left <= 0) return <span className={classes.alarm}>{t('tasks.lockOver')}</span>;
    const soon = left < task.lockDurationSeconds * 100;
    return (
      <span className={soon ? classes.soon : undefined}>
        {t('tasks.lockLeft', { time: formatCountdown(left) })}
      </span>
    );
  }
  if (task.status !== 'PENDING') return <span className={classes.muted}>–</span>;
  const free = Date.parse(task.availableAt) - now;
  if (free > 0)
    return (
      <span className={classes.muted}>{t('tasks.freeIn', { time: formatCountdown(free) })}</span>
    );
  return (
    <span className={classes.muted}>
      {t('tasks.timeoutIn', { time: formatCountdown(Date.parse(task.timeoutAt) - now) })}
    </span>
  );
}

/** How long ago the worker was heard of; late when it is more than its interval. */
export function HeartbeatAge({ task }: { task: ExternalTask }) {
  const now = useNow();
  if (task.status !== 'LOCKED' || !task.lastHeartbeatAt)
    return <span className={classes.muted}>–</span>;
  const age = Math.max(0, now - Date.parse(task.lastHeartbeatAt));
  const interval = (task.heartbeatIntervalSeconds ?? 0) * 1000;
  const late = interval > 0 && age > interval;
  return <span className={late ? classes.soon : undefined}>{formatDuration(age)}</span>;
}

export function ProgressBar({
  percent,
  message,
}: {
  percent?: number | null;
  message?: string | null;
}) {
  if (percent === null || percent === undefined)
    return message ? <span className={classes.cut}>{message}</span> : null;
  const value = Math.min(100, Math.max(0, Number(percent)));
  return (
    <span className={classes.progress} title={message ?? undefined}>
      <span
        className={classes.track}
        role="progressbar"
        aria-valuenow={value}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-label={message ?? t('tasks.col.progress')}
      >
        <span style={{ width: `${value}%` }} />
      </span>
      {t('tasks.progressOf', { percent: value })}
    </span>
  );
}
