import { describe, expect, it } from 'vitest';
import type { Retried, Timeline } from '@/api/queries/workflows';
import { recoveryOf, waitsOf } from './axis';
import { DEFAULTS } from './policy';
import { delaysOf } from './RetryFields';
import { seconds } from './Simulator';

const TIMELINE: Timeline = {
  retries: [2, 4, 8, 16, 32].map((delay, index, all) => ({
    retry: index + 1,
    delay_ms: delay * 1000,
    min_ms: delay * 800,
    max_ms: delay * 1200,
    at_ms: all.slice(0, index + 1).reduce((sum, each) => sum + each * 1000, 0),
  })),
  total_ms: 62_000,
  total_min_ms: 49_600,
  total_max_ms: 74_400,
};

describe('the axis', () => {
  it('ends with the latest time that a retry can come', () => {
    const waits = waitsOf(TIMELINE, false);
    expect(waits[0]!.from).toBe(0);
    expect(waits.at(-1)!.to).toBeCloseTo(62 / 74.4);
    expect(waits.at(-1)!.latest).toBeCloseTo(1);
    expect(waits[1]!.from).toBe(waits[0]!.to);
  });
  it('gives early retries more room when it is logarithmic', () => {
    expect(waitsOf(TIMELINE, true)[0]!.to).toBeGreaterThan(waitsOf(TIMELINE, false)[0]!.to);
  });
  it('is empty without retries', () => {
    const none = { retries: [], total_ms: 0, total_min_ms: 0, total_max_ms: 0 };
    expect(waitsOf(none, false)).toEqual([]);
  });
});

describe('what became of retries', () => {
  const row = (status: string, retry_count: number) => ({ status, retry_count }) as Retried;
  it('counts the ended ones by the retry that helped', () => {
    const rows = [
      row('completed', 1),
      row('completed', 2),
      row('dlq', 5),
      row('retrying', 1),
      row('completed', 1),
    ];
    expect(recoveryOf(rows)).toEqual({
      ended: 4,
      by: [
        { retry: 1, count: 2, share: 0.5 },
        { retry: 2, count: 1, share: 0.75 },
      ],
    });
    expect(recoveryOf([])).toEqual({ ended: 0, by: [] });
  });
});

describe('times in words', () => {
  it('has tenths of seconds and larger units', () => {
    expect([400, 1600, 62_000, 49_600, 250_000, 7_500_000].map(seconds)).toEqual([
      '400 ms',
      '1.6 s',
      '62 s',
      '49.6 s',
      '4 min 10 s',
      '2 h 5 min',
    ]);
  });
  it('shows the first delays of a strategy', () => {
    expect(delaysOf('exponential', DEFAULTS)).toBe('2s → 4s → 8s → 16s → 32s');
    expect(delaysOf('linear', { ...DEFAULTS, initialDelay: '1' })).toBe('1s → 2s → 3s → 4s → 5s');
    expect(delaysOf('fixed', { ...DEFAULTS, initialDelay: '1h30m' })).toBe('');
  });
});
