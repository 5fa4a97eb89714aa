/** The schedule of a draft as the settings of a trigger, which the server can preview. */
import type { TaskDraft } from './draft';

const listOf = (text: string): string | string[] => {
  const parts = text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
  return parts.length === 1 ? parts[0]! : parts;
};

/** Null for what happens once, or says too little. */
export function previewOf(draft: TaskDraft): Record<string, unknown> | null {
  const zone = draft.timezone ? { timezone: draft.timezone } : {};
  const time = listOf(draft.time);
  switch (draft.scheduleType) {
    case 'cron':
      return draft.cron.trim()
        ? { trigger_type: 'cron', cron_expression: draft.cron.trim(), ...zone }
        : null;
    case 'daily':
      return { trigger_type: 'schedule', daily: { time }, ...zone };
    case 'weekly':
      return draft.daysOfWeek.length > 0
        ? {
            trigger_type: 'schedule',
            weekly: { dayOfWeek: draft.daysOfWeek.map(dayOf), time },
            ...zone,
          }
        : null;
    case 'monthly':
      return {
        trigger_type: 'schedule',
        monthly: { dayOfMonth: monthDays(draft.dayOfMonth), time },
        ...zone,
      };
    default:
      return null;
  }
}

const dayOf = (day: string) => (/^\d$/.test(day) ? Number(day) : day);

function monthDays(text: string): unknown {
  const days = listOf(text);
  const one = (day: string) => (/^\d+$/.test(day) ? Number(day) : day);
  return Array.isArray(days) ? days.map(one) : one(days);
}
