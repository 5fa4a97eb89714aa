/** The settings of a cron trigger or a schedule as the form holds them, and the way back. */
import { stringifyExact } from '@/api/exact';
import type { Trigger, TriggerSettings } from '@/api/queries/triggers';
import {
  bodyOf,
  joinList,
  NO_RETRY,
  numberOrText,
  oneOrMany,
  present,
  type RetryDraft,
  retryDraft,
  retrySettings,
  settingsOnly,
  splitList,
  textOf,
  without,
} from '../form/settings';
import { daysText, readDays } from './weekdays';

export type ScheduleKind = 'cron' | 'interval' | 'calendar' | 'once';
export type Calendar = 'daily' | 'weekly' | 'monthly';

export interface ScheduleDraft {
  kind: ScheduleKind;
  name: string;
  description: string;
  enabled: boolean;
  cron: string;
  every: string;
  anchor: string;
  calendar: Calendar;
  times: string;
  /** Names of days, Monday first; a text that is no days stays as it is in `weekdaysText`. */
  weekdays: string[];
  weekdaysText: string;
  monthdays: string;
  at: string;
  timezone: string;
  start: string;
  end: string;
  jitter: string;
  gap: string;
  repeat: string;
  overlap: string;
  misfire: string;
  misfireMax: string;
  misfireWindow: string;
  deadMan: 'none' | 'grace' | 'success_within';
  deadManFor: string;
  input: string;
  retry: RetryDraft;
  /** Settings that this form has no field for. */
  other: TriggerSettings;
}

const KNOWN = [
  'name',
  'description',
  'cron_expression',
  'every',
  'anchor',
  'at',
  'daily',
  'weekly',
  'monthly',
  'timezone',
  'start',
  'end',
  'jitter',
  'dst',
  'overlap',
  'misfire',
  'misfire_max',
  'misfire_window',
  'dead_man',
  'input',
  'retry',
] as const;

export const NEW_SCHEDULE: ScheduleDraft = {
  kind: 'cron',
  name: '',
  description: '',
  enabled: true,
  cron: '0 * * * *',
  every: '1h',
  anchor: '',
  calendar: 'daily',
  times: '09:00',
  weekdays: ['MON'],
  weekdaysText: '',
  monthdays: '1',
  at: '',
  timezone: 'UTC',
  start: '',
  end: '',
  jitter: '',
  gap: 'next_valid',
  repeat: 'first',
  overlap: 'allow',
  misfire: 'fire_once',
  misfireMax: '',
  misfireWindow: '',
  deadMan: 'none',
  deadManFor: '',
  input: '',
  retry: NO_RETRY,
  other: {},
};

const record = (value: unknown): TriggerSettings =>
  typeof value === 'object' && value !== null ? (value as TriggerSettings) : {};

function timing(given: TriggerSettings): Partial<ScheduleDraft> {
  if (given.cron_expression !== undefined)
    return { kind: 'cron', cron: textOf(given.cron_expression) };
  if (given.every !== undefined)
    return { kind: 'interval', every: textOf(given.every), anchor: textOf(given.anchor) };
  if (given.at !== undefined) return { kind: 'once', at: joinList(given.at, '\n') };
  for (const calendar of ['daily', 'weekly', 'monthly'] as const) {
    if (given[calendar] === undefined) continue;
    const says = record(given[calendar]);
    const days = readDays(says.dayOfWeek);
    return {
      kind: 'calendar',
      calendar,
      times: joinList(says.time),
      weekdays: days ?? [],
      weekdaysText: days === undefined && calendar === 'weekly' ? joinList(says.dayOfWeek) : '',
      monthdays: calendar === 'monthly' ? joinList(says.dayOfMonth) : NEW_SCHEDULE.monthdays,
    };
  }
  return {};
}

export function scheduleDraft(trigger: Trigger): ScheduleDraft {
  const given = settingsOnly(trigger);
  const dst = record(given.dst);
  const man = record(given.dead_man);
  const deadMan = 'grace' in man ? 'grace' : 'success_within' in man ? 'success_within' : 'none';
  return {
    ...NEW_SCHEDULE,
    kind: trigger.trigger_type === 'cron' ? 'cron' : 'interval',
    ...timing(given),
    name: textOf(given.name),
    description: textOf(given.description),
    enabled: trigger.enabled,
    timezone: textOf(given.timezone) || 'UTC',
    start: textOf(given.start),
    end: textOf(given.end),
    jitter: textOf(given.jitter),
    gap: textOf(dst.gap) || NEW_SCHEDULE.gap,
    repeat: textOf(dst.repeat) || NEW_SCHEDULE.repeat,
    overlap: textOf(given.overlap) || NEW_SCHEDULE.overlap,
    misfire: textOf(given.misfire) || NEW_SCHEDULE.misfire,
    misfireMax: textOf(given.misfire_max),
    misfireWindow: textOf(given.misfire_window),
    deadMan,
    deadManFor: deadMan === 'none' ? '' : textOf(man[deadMan]),
    input: given.input === undefined ? '' : stringifyExact(given.input, 2),
    retry: retryDraft(given.retry),
    other: without(given, KNOWN),
  };
}

const days = (text: string) => splitList(text).map((day) => numberOrText(day) ?? day);

function timingSettings(draft: ScheduleDraft): TriggerSettings {
  const time = oneOrMany(splitList(draft.times));
  switch (draft.kind) {
    case 'cron':
      return { trigger_type: 'cron', cron_expression: draft.cron.trim() };
    case 'interval':
      return { trigger_type: 'schedule', every: draft.every.trim(), anchor: draft.anchor.trim() };
    case 'once':
      return { trigger_type: 'schedule', at: oneOrMany(splitList(draft.at)) };
    case 'calendar': {
      if (draft.calendar === 'daily') return { trigger_type: 'schedule', daily: { time } };
      if (draft.calendar === 'monthly') {
        const dayOfMonth = oneOrMany(days(draft.monthdays));
        return { trigger_type: 'schedule', monthly: { dayOfMonth, time } };
      }
      const dayOfWeek = draft.weekdaysText || daysText(draft.weekdays);
      return { trigger_type: 'schedule', weekly: { dayOfWeek, time } };
    }
  }
}

/** The settings without input: what says when, and what then. */
export function scheduleSettings(draft: ScheduleDraft): TriggerSettings {
  const dst = present({
    gap: draft.gap === NEW_SCHEDULE.gap ? undefined : draft.gap,
    repeat: draft.repeat === NEW_SCHEDULE.repeat ? undefined : draft.repeat,
  });
  const shown = present({
    name: draft.name.trim(),
    description: draft.description.trim(),
    timezone: draft.timezone.trim(),
    start: draft.start.trim(),
    end: draft.end.trim(),
    jitter: draft.jitter.trim(),
    dst: Object.keys(dst).length > 0 ? dst : undefined,
    overlap: draft.overlap === NEW_SCHEDULE.overlap ? undefined : draft.overlap,
    misfire: draft.misfire === NEW_SCHEDULE.misfire ? undefined : draft.misfire,
    misfire_max: draft.misfire === 'fire_all' ? numberOrText(draft.misfireMax) : undefined,
    misfire_window: draft.misfire === 'skip' ? undefined : draft.misfireWindow.trim(),
    dead_man: draft.deadMan === 'none' ? undefined : { [draft.deadMan]: draft.deadManFor.trim() },
    retry: retrySettings(draft.retry),
  });
  const when = timingSettings(draft);
  if (when.anchor === '') delete when.anchor;
  return { ...draft.other, ...when, ...shown, enabled: draft.enabled };
}

/** What is sent to save it. */
export function scheduleBody(draft: ScheduleDraft): string {
  return bodyOf(scheduleSettings(draft), draft.input);
}
