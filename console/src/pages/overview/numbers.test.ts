import { describe, expect, it } from 'vitest';
import { outcomesOf, percent, rangeOf } from './numbers';

describe('percent', () => {
  it('never says all where something failed', () => {
    expect(percent(0.99999)).toBe('99.99 %');
    expect(percent(1)).toBe('100 %');
    expect(percent(0)).toBe('0 %');
    expect(percent(0.87)).toBe('87.0 %');
    expect(percent(null)).toBe('–');
  });
});

describe('outcomes', () => {
  it('have a fixed order and leave out what is nothing', () => {
    const found = outcomesOf({ dlq: 1, completed: 3, failed: 0, odd: 4 });
    expect(found.map((each) => each.status)).toEqual(['completed', 'dlq', 'odd']);
    expect(found[0]?.share).toBe(37.5);
    expect(outcomesOf({})).toEqual([]);
  });
});

it('an unknown range is a day', () => {
  expect(rangeOf('7d')).toBe('7d');
  expect(rangeOf('nonsense')).toBe('24h');
});
