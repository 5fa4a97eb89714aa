import { describe, expect, it } from 'vitest';
import { parseExact, stringifyExact } from '@/api/exact';
import type { ScheduledTask, TaskRecord } from '@/api/queries/scheduled';
import { cyclesOf, executionOf, tookMs } from './cycles';
import { draftOf, EMPTY, mergePatch, requestOf, toRequest } from './draft';
import { EXAMPLES } from './examples';
import { previewOf } from './preview';
import { scheduleWords, stateOf } from './words';

const ZONE = 'Asia/Taipei';
const again = (request: unknown) => toRequest(draftOf(request, ZONE), ZONE);

describe('the form', () => {
  for (const [name, request] of Object.entries(EXAMPLES))
    it(`gives back the example ${name} as it was`, () => {
      const { targetConfig } = request.taskConfig as { targetConfig?: object };
      expect(again(request)).toEqual({ request });
      expect(Boolean(targetConfig)).toBe(name !== 'sync');
    });

  it('reads local times in the chosen zone', () => {
    const request = {
      isRecurring: false,
      scheduleType: 'once',
      scheduleConfig: { executeAt: '2025-10-03T14:00:00Z' },
      taskConfig: { ...EXAMPLES.notification.taskConfig },
    };
    expect(draftOf(request, ZONE).executeAt).toBe('2025-10-03T22:00');
    expect(again(request)).toEqual({ request });
  });

  it('takes one time or several, one day or several', () => {
    const draft = {
      ...EMPTY,
      scheduleType: 'weekly',
      time: '09:00, 17:30',
      daysOfWeek: ['1', '3'],
      url: 'https://x',
    };
    const read = toRequest(draft, ZONE);
    expect('request' in read && read.request.scheduleConfig).toEqual({
      dayOfWeek: [1, 3],
      time: ['09:00', '17:30'],
    });
  });

  it('keeps numbers exactly, and leaves wrong ones for the server to name', () => {
    const payload = '{"n":123456789012345678901234567890}';
    const draft = { ...EMPTY, url: 'https://x', payload, retry: true, maxRetries: 'many' };
    const read = toRequest(draft, ZONE);
    expect('request' in read && stringifyExact(read.request)).toContain(
      '"taskPayload":{"n":123456789012345678901234567890}',
    );
    expect('request' in read && stringifyExact(read.request)).toContain('"maxRetries":"many"');
  });

  it('names what is no object', () => {
    const read = toRequest({ ...EMPTY, payload: '[1]', metadata: '{' }, ZONE);
    expect(Object.keys(read.problems ?? {}).sort()).toEqual(['metadata', 'payload']);
  });
});

describe('the preview', () => {
  it('asks for the schedule as a trigger', () => {
    const weekly = { ...EMPTY, scheduleType: 'weekly', daysOfWeek: ['1', '3'], timezone: ZONE };
    expect(previewOf(weekly)).toEqual({
      trigger_type: 'schedule',
      weekly: { dayOfWeek: [1, 3], time: '09:00' },
      timezone: ZONE,
    });
    expect(previewOf({ ...EMPTY, scheduleType: 'monthly', dayOfMonth: '1, last' })).toEqual({
      trigger_type: 'schedule',
      monthly: { dayOfMonth: [1, 'last'], time: '09:00' },
    });
    expect(previewOf({ ...EMPTY, scheduleType: 'once' })).toBeNull();
    expect(previewOf({ ...EMPTY, scheduleType: 'cron', cron: ' ' })).toBeNull();
  });
});

describe('a merge patch', () => {
  it('names only what changes, and removes by null', () => {
    const before = { a: 1, b: { c: 1, d: [1] }, gone: true };
    const after = { a: 1, b: { c: 2, d: [1] }, new: 'x' };
    expect(mergePatch(before, after)).toEqual({ b: { c: 2 }, gone: null, new: 'x' });
    expect(mergePatch(before, before)).toEqual({});
  });
  it('sees the last digit of a long number', () => {
    const a = parseExact('{"n":12345678901234567890}');
    const b = parseExact('{"n":12345678901234567891}');
    expect(stringifyExact(mergePatch(a, b))).toBe('{"n":12345678901234567891}');
  });
  it('leaves out fields that a task does not have', () => {
    const task = { taskName: null, scheduleType: 'daily', taskConfig: {}, startTime: null };
    expect(requestOf(task as unknown as ScheduledTask)).toEqual({
      scheduleType: 'daily',
      taskConfig: {},
    });
  });
});

describe('cycles', () => {
  const record = (id: string, cycleNumber: number, isRetry: boolean, status: string, at: string) =>
    ({
      id,
      cycleNumber,
      isRetry,
      executionStatus: status,
      executionStartedAt: at,
    }) as TaskRecord;
  it('have the newest attempt’s status and count their retries', () => {
    const cycles = cyclesOf([
      record('e3-1', 3, false, 'success', '2026-01-03'),
      record('e2-2', 2, true, 'success', '2026-01-02T01'),
      record('e2-1', 2, false, 'trigger_failed', '2026-01-02T00'),
    ]);
    expect(cycles).toEqual([
      { number: 2, status: 'success', startedAt: '2026-01-02T00', retries: 1 },
      { number: 3, status: 'success', startedAt: '2026-01-03', retries: 0 },
    ]);
    expect(executionOf({ id: 'exec_1-12' })).toBe('exec_1');
  });
  it('say how long an attempt took, once it is over', () => {
    const open = record('a', 1, false, 'pending', '2026-01-01T00:00:00Z');
    expect(tookMs(open)).toBeUndefined();
    expect(tookMs({ ...open, executionCompletedAt: '2026-01-01T00:00:02Z' })).toBe(2000);
  });
});

describe('words', () => {
  const task = (scheduleType: string, scheduleConfig: unknown, isRecurring = true) =>
    scheduleWords({ scheduleType, scheduleConfig, isRecurring } as ScheduledTask);
  it('say the schedule', () => {
    expect(task('daily', { time: ['09:00', '17:30'] })).toBe('daily at 09:00, 17:30');
    expect(task('weekly', { dayOfWeek: [1, 5], time: '09:00' })).toBe('Monday, Friday at 09:00');
    expect(task('monthly', { dayOfMonth: 1, time: '09:00' })).toBe('day 1 of the month at 09:00');
    expect(task('cron', { cron: '0 9 * * *' }, false)).toBe('0 9 * * *, only the first time');
    expect(task('immediate', null, false)).toBe('at once');
  });
  it('say the state', () => {
    const base = { isActive: true, isFinished: false, cancelledAt: null };
    expect(stateOf(base)).toBe('active');
    expect(stateOf({ ...base, isActive: false })).toBe('paused');
    expect(stateOf({ ...base, isFinished: true })).toBe('finished');
    expect(stateOf({ ...base, isActive: false, cancelledAt: 'x' })).toBe('cancelled');
  });
});
