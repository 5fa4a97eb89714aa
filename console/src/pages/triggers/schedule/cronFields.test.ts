import { describe, expect, it } from 'vitest';
import { cronParts, namedField, partAt, readPart, templateOf } from './cronFields';
import { clockChanges } from './useClockChanges';
import { daysText, readDays } from './weekdays';

describe('cron expressions', () => {
  it('are taken apart with their places', () => {
    expect(cronParts('0 9 * * MON').map((part) => part.field)).toEqual([
      'minute',
      'hour',
      'day',
      'month',
      'weekday',
    ]);
    expect(cronParts('TZ=Asia/Taipei */5 0 9 * * 1')[0]).toEqual({
      field: 'second',
      text: '*/5',
      from: 15,
      to: 18,
    });
    expect(cronParts('@hourly')).toEqual([]);
    expect(cronParts('0 9')).toEqual([]);
  });

  it('know the part under the cursor', () => {
    const parts = cronParts('0 9 * * MON');
    expect(partAt(parts, 0)?.field).toBe('minute');
    expect(partAt(parts, 2)?.field).toBe('hour');
    expect(partAt(parts, 3)?.field).toBe('hour');
    expect(partAt(parts, 11)?.field).toBe('weekday');
  });

  it('read each form of a part', () => {
    expect(readPart('*').form).toBe('every');
    expect(readPart('*/15')).toMatchObject({ form: 'step', step: '15' });
    expect(readPart('9-17/2')).toMatchObject({ form: 'rangeStep', a: '9', b: '17', step: '2' });
    expect(readPart('MON-FRI')).toMatchObject({ form: 'range', a: 'MON', b: 'FRI' });
    expect(readPart('1,15')).toMatchObject({ form: 'list', a: '1, 15' });
    expect(readPart('MON#1')).toMatchObject({ form: 'nth', a: 'MON', b: '1' });
    expect(readPart('15W')).toMatchObject({ form: 'near', a: '15' });
    expect(readPart('L').form).toBe('last');
  });

  it('find the field that a message names', () => {
    expect(namedField('minute: 61 is not from 0 to 59')).toBe('minute');
    expect(namedField('day of week: `FOO` is not a day')).toBe('weekday');
    expect(namedField('it never fires')).toBeUndefined();
  });

  it('know the templates', () => {
    expect(templateOf('0 9 * * mon')).toBe('monday');
    expect(templateOf(' */5  * * * * ')).toBe('every5');
    expect(templateOf('7 * * * *')).toBe('custom');
  });
});

describe('days of the week', () => {
  it('are read in every spelling', () => {
    expect(readDays('MON-FRI')).toEqual(['MON', 'TUE', 'WED', 'THU', 'FRI']);
    expect(readDays(['sunday', 3])).toEqual(['WED', 'SUN']);
    expect(readDays('FRI-MON')).toEqual(['MON', 'FRI', 'SAT', 'SUN']);
    expect(readDays('SOMEDAY')).toBeUndefined();
  });
  it('are written short', () => {
    expect(daysText(['WED', 'MON', 'TUE'])).toBe('MON-WED');
    expect(daysText(['SUN', 'MON'])).toEqual(['MON', 'SUN']);
    expect(daysText(['FRI'])).toBe('FRI');
  });
});

describe('changes of the clock', () => {
  const from = Date.parse('2026-11-18T00:00:00Z');
  it('are found within a year', () => {
    const days = clockChanges('Europe/Berlin', from).map((at) =>
      new Date(at).toISOString().slice(0, 10),
    );
    expect(days).toEqual(['2027-03-28', '2027-10-31']);
  });
  it('do not exist everywhere', () => {
    expect(clockChanges('Asia/Taipei', from)).toEqual([]);
    expect(clockChanges('Mars/Olympus', from)).toEqual([]);
  });
});
