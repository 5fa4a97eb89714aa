import { describe, expect, it } from 'vitest';
import type { AlertRule } from '@/api/queries/alerts';
import { bodyOf, draftOf, FIELDS, NEW_RULE } from './draft';
import { endOf } from './silence';

describe('the form of a rule', () => {
  it('sends the fields of its kind and no others', () => {
    expect(bodyOf({ ...NEW_RULE, name: 'a' })).toEqual({
      name: 'a',
      kind: 'failure_rate',
      window: '10m',
      above: 20,
      min_count: 10,
      for: '0s',
      repeat: '4h',
      channels: [],
      enabled: true,
    });
    expect(bodyOf({ ...NEW_RULE, kind: 'breaker_open' })).not.toHaveProperty('window');
    expect(FIELDS.long_processing).toContain('after');
  });

  it('gives back what it was made of, and takes back what was emptied', () => {
    const rule = {
      name: 'b',
      kind: 'dlq_growth',
      workflow: 'crm',
      window: '30m',
      above: 5,
      for: '1m',
      repeat: '1h',
      channels: ['ops'],
      enabled: false,
    };
    const draft = draftOf(rule as AlertRule);
    expect(bodyOf(draft)).toEqual(rule);
    expect(bodyOf({ ...draft, workflow: '' }, true)).toMatchObject({ workflow: null });
  });

  it('lets the server judge a number that is none', () => {
    expect(bodyOf({ ...NEW_RULE, above: 'many' }).above).toBe('many');
  });
});

it('a silence ends so long after now', () => {
  expect(endOf('1h', 0)).toBe('1970-01-01T01:00:00.000Z');
  expect(endOf('7d', 0)).toBe('1970-01-08T00:00:00.000Z');
});
