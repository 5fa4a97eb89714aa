/** A task's schedule and state in words. */
import type { ScheduledTask } from '@/api/queries/scheduled';
import { t, word } from '@/i18n/t';
import { formatInstant } from '@/time/format';

export type TaskState = 'active' | 'paused' | 'finished' | 'cancelled';

export function stateOf(
  task: Pick<ScheduledTask, 'isActive' | 'isFinished' | 'cancelledAt'>,
): TaskState {
  if (task.cancelledAt) return 'cancelled';
  if (task.isFinished) return 'finished';
  return task.isActive ? 'active' : 'paused';
}

export const STATE_TONE = {
  active: 'completed',
  paused: 'paused',
  finished: 'pending',
  cancelled: 'cancelled',
} as const;

const listed = (value: unknown) => (Array.isArray(value) ? value : [value]).map(String);

function dayWords(value: unknown): string {
  return listed(value)
    .map((day) => word('scheduled.day', day))
    .join(', ');
}

export function scheduleWords(
  task: Pick<ScheduledTask, 'scheduleType' | 'scheduleConfig' | 'isRecurring'>,
): string {
  const config = (task.scheduleConfig ?? {}) as Record<string, unknown>;
  const time = listed(config.time ?? '').join(', ');
  const words = (() => {
    switch (task.scheduleType) {
      case 'once': {
        const at = Date.parse(String(config.executeAt));
        const shown = Number.isNaN(at) ? String(config.executeAt) : formatInstant(at);
        return t('scheduled.words.once', { time: shown });
      }
      case 'daily':
        return t('scheduled.words.daily', { time });
      case 'weekly':
        return t('scheduled.words.weekly', { days: dayWords(config.dayOfWeek), time });
      case 'monthly':
        return t('scheduled.words.monthly', { days: listed(config.dayOfMonth).join(', '), time });
      case 'cron':
        return String(config.cron ?? '');
      default:
        return t('scheduled.words.immediate');
    }
  })();
  const recurring = !/^(immediate|once)$/.test(task.scheduleType);
  return recurring && !task.isRecurring ? t('scheduled.words.first', { words }) : words;
}

export const nameOf = (task: Pick<ScheduledTask, 'taskName' | 'taskId'>) =>
  task.taskName || task.taskId;
