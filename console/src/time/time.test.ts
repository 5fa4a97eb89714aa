import { describe, expect, it } from 'vitest';
import {
  formatCountdown,
  formatDuration,
  formatFull,
  formatInstant,
  formatRelative,
} from './format';
import { absoluteTime, relativeMs } from './range';
import { instantOf, localInput, offsetText, shortOffset } from './zone';

const AT = Date.parse('2026-11-18T09:30:45.120Z');

describe('zones', () => {
  it('show the wall clock and the offset', () => {
    expect(formatInstant(AT, 'Asia/Taipei')).toBe('2026-11-18 17:30:45');
    expect(formatFull(AT, 'Asia/Kathmandu')).toBe('2026-11-18 15:15:45.120 +05:45');
    expect(formatFull(AT, 'UTC')).toBe('2026-11-18 09:30:45.120 Z');
    expect(shortOffset(AT, 'America/St_Johns')).toBe('UTC−3:30');
    expect(shortOffset(AT, 'Asia/Taipei')).toBe('UTC+8');
  });

  it('follow clock changes', () => {
    expect(offsetText(Date.parse('2026-03-29T00:59:00Z'), 'Europe/Berlin')).toBe('+01:00');
    expect(offsetText(Date.parse('2026-03-29T01:00:00Z'), 'Europe/Berlin')).toBe('+02:00');
  });

  it('find the instant of a local time', () => {
    expect(instantOf('2026-11-18T17:30', 'Asia/Taipei')).toBe(Date.parse('2026-11-18T09:30:00Z'));
    expect(instantOf('2026-07-01T12:00', 'Europe/Berlin')).toBe(Date.parse('2026-07-01T10:00:00Z'));
    // The hour that does not exist becomes one that does.
    expect(localInput(instantOf('2026-03-29T02:30', 'Europe/Berlin'), 'Europe/Berlin')).toMatch(
      /T0[13]:30/,
    );
  });
});

describe('texts of time', () => {
  it('tell durations', () => {
    expect(formatDuration(812)).toBe('812 ms');
    expect(formatDuration(1_046)).toBe('1.0 s');
    expect(formatDuration(59_999)).toBe('59 s');
    expect(formatDuration(250_000)).toBe('4m 10s');
    expect(formatDuration(3_600_000 * 3 + 300_000)).toBe('3h 05m');
    expect(formatDuration(86_400_000 * 2 + 3_600_000 * 4)).toBe('2d 4h');
  });

  it('count down, and not below zero', () => {
    expect(formatCountdown(5_001)).toBe('0:06');
    expect(formatCountdown(3_730_000)).toBe('1:02:10');
    expect(formatCountdown(-9_000)).toBe('0:00');
  });

  it('tell how long ago', () => {
    expect(formatRelative(AT - 120_000, AT)).toBe('2 min. ago');
    expect(formatRelative(AT + 6_000, AT)).toBe('in 6 sec.');
    expect(formatRelative(AT, AT)).toBe('now');
  });
});

describe('ranges', () => {
  it('stay relative until asked', () => {
    expect(relativeMs('-15m')).toBe(-900_000);
    expect(relativeMs('7d')).toBeUndefined();
    expect(absoluteTime('-1h', AT)).toBe('2026-11-18T08:30:45.120Z');
    expect(absoluteTime('2026-11-18T10:00:00+08:00', AT)).toBe('2026-11-18T02:00:00.000Z');
    expect(absoluteTime('soon', AT)).toBeUndefined();
  });
});
