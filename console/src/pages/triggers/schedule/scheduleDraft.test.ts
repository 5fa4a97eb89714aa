import { describe, expect, it } from 'vitest';
import type { Trigger } from '@/api/queries/triggers';
import { NEW_SCHEDULE, scheduleBody, scheduleDraft, scheduleSettings } from './scheduleDraft';

const about = {
  id: 'trg_1',
  workflow_id: 'report',
  enabled: true,
  version: 3,
  created_at: '2026-11-18T00:00:00Z',
  updated_at: '2026-11-18T00:00:00Z',
};
const trigger = (settings: object) => ({ ...about, ...settings }) as unknown as Trigger;

describe('schedules as a form', () => {
  it.each([
    { trigger_type: 'cron', cron_expression: '0 9 * * MON', timezone: 'Asia/Taipei' },
    { trigger_type: 'schedule', every: '13h', anchor: '2026-11-18T13:03:44Z', timezone: 'UTC' },
    { trigger_type: 'schedule', at: ['2026-12-24T18:00', '2026-12-31T23:59'], timezone: 'UTC' },
    { trigger_type: 'schedule', daily: { time: ['09:00', '17:30'] }, timezone: 'UTC' },
    { trigger_type: 'schedule', weekly: { dayOfWeek: 'MON-FRI', time: '09:00' }, timezone: 'UTC' },
    {
      trigger_type: 'schedule',
      monthly: { dayOfMonth: [1, 'last'], time: '18:00' },
      timezone: 'Europe/Berlin',
      start: '2026-12-01T00:00',
      jitter: '10m',
      dst: { gap: 'skip' },
      overlap: 'buffer_one',
      misfire: 'fire_all',
      misfire_max: 10,
      misfire_window: '12h',
      dead_man: { grace: '15m' },
      retry: { maxRetries: 3, jitter: 'full' },
      name: 'Closing',
    },
  ])('come back as they were: %o', (settings) => {
    expect(scheduleSettings(scheduleDraft(trigger(settings)))).toEqual({
      ...settings,
      enabled: true,
    });
  });

  it('leave out what the server shows as a default', () => {
    const draft = scheduleDraft(
      trigger({
        trigger_type: 'cron',
        cron_expression: '0 * * * *',
        timezone: 'UTC',
        overlap: 'allow',
        misfire: 'fire_once',
      }),
    );
    expect(scheduleSettings(draft)).toEqual({
      trigger_type: 'cron',
      cron_expression: '0 * * * *',
      timezone: 'UTC',
      enabled: true,
    });
  });

  it('keep settings that have no field', () => {
    const draft = scheduleDraft(
      trigger({
        trigger_type: 'cron',
        cron_expression: '0 * * * *',
        timezone: 'UTC',
        later: { x: 1 },
      }),
    );
    expect(scheduleSettings(draft)).toMatchObject({ later: { x: 1 } });
  });

  it('send an input to the last digit', () => {
    const input = '{"n": 123456789012345678901234567890}';
    expect(scheduleBody({ ...NEW_SCHEDULE, input })).toContain(`"input":${input}}`);
  });

  it('send days that cannot be read as they are, for the server to name', () => {
    const draft = scheduleDraft(
      trigger({ trigger_type: 'schedule', weekly: { dayOfWeek: 'FOO', time: '9' } }),
    );
    expect(scheduleSettings(draft).weekly).toEqual({ dayOfWeek: 'FOO', time: '9' });
  });
});
