import { afterEach, describe, expect, it } from 'vitest';
import { parseExact } from '@/api/exact';
import { retryRequest } from '@/api/queries/dlq';
import { loadLanguage } from '@/i18n/t';
import { changeSettings } from '@/settings/settings';
import { attemptsOf, longestWait } from './attempts';
import { changesOf, parseInput, placeOf } from './changes';
import { isNarrowed, letterFields, readFilter, writeFilter } from './filter';
import { inThisLanguage } from './suggestions';

describe('attempts', () => {
  it('say how long was waited before each', () => {
    const attempts = attemptsOf([
      { attempt: 1, error: '503', delay: 2, at: 'a' },
      { attempt: 2, error: '503', delay: 4, at: 'b' },
      { attempt: 3, error: '503', delay: null, at: 'c' },
    ]);
    expect(attempts.map((each) => [each.retry, each.waitedMs])).toEqual([
      [0, undefined],
      [1, 2000],
      [2, 4000],
    ]);
    expect(longestWait(attempts)).toBe(4000);
    expect(longestWait([])).toBe(1);
  });
});

describe('changes', () => {
  it('name paths, also with odd keys', () => {
    const before = { crm: true, list: [1, 2], gone: 1, 'a b': 0 };
    const after = { crm: false, list: [1, 3, 4], new: {}, 'a b': 1 };
    expect(changesOf(before, after)).toEqual([
      { path: '$.crm', kind: 'changed', old: true, new: false },
      { path: '$.list[1]', kind: 'changed', old: 2, new: 3 },
      { path: '$.list[2]', kind: 'added', new: 4 },
      { path: '$.gone', kind: 'removed', old: 1 },
      { path: '$["a b"]', kind: 'changed', old: 0, new: 1 },
      { path: '$.new', kind: 'added', new: {} },
    ]);
  });
  it('see the last digit of a number with thirty', () => {
    const a = parseExact('{"n":123456789012345678901234567890}');
    const b = parseExact('{"n":123456789012345678901234567891}');
    expect(changesOf(a, a)).toEqual([]);
    expect(changesOf(a, b)).toHaveLength(1);
  });
  it('see a change of kind', () => {
    expect(changesOf({ a: [] }, { a: {} })).toHaveLength(1);
    expect(changesOf(null, {})).toHaveLength(1);
  });
});

describe('typed inputs', () => {
  it('are JSON, or say where they are not', () => {
    expect(parseInput('{"a":1}')).toEqual({ value: { a: 1 } });
    expect(parseInput('  ')).toEqual({ error: '' });
    expect(parseInput('{"a": }').error).toBeTruthy();
    expect(placeOf('{\n  "a": }', 9)).toEqual({ line: 2, column: 8 });
  });
  it('go to the server as they were typed', () => {
    const { body } = retryRequest('dlq_1', {
      from: 'failed_step',
      retries: true,
      input: '{"n": 12345678901234567890}',
    });
    expect(body).toBe('{"from":"failed_step","retries":true,"input":{"n": 12345678901234567890}}');
    expect(retryRequest('dlq_1', { from: 'start' }).body).toBe('{"from":"start"}');
  });
});

describe('the filter', () => {
  const none = () => Promise.resolve([]);
  const fields = letterFields({ workflows: none, errors: none });
  it('is the last seven days unless the address says something else', () => {
    expect(readFilter({}, fields).asked.from).toBe('-7d');
    expect(readFilter({ from: 'all' }, fields).asked.from).toBeUndefined();
    expect(readFilter({ to: '2026-01-01T00:00:00Z' }, fields).asked.from).toBeUndefined();
    expect(readFilter({ status: 'pending,nonsense' }, fields).wrong).toEqual(['status:nonsense']);
  });
  it('tells all time from nothing said', () => {
    expect(writeFilter({ from: undefined, to: undefined }).from).toBe('all');
    expect(writeFilter({ from: '-7d' })).toEqual({});
    expect(writeFilter({ q: 'x' })).toEqual({ q: 'x' });
  });
  it('knows what narrows', () => {
    expect(isNarrowed({ from: '-7d' })).toBe(false);
    expect(isNarrowed({ from: '-7d', q: 'x' })).toBe(true);
  });
});

describe('suggestions', () => {
  afterEach(() => changeSettings({ language: 'en' }));
  const later = {
    title: 'Retry once the target is healthy',
    detail: 'Every automatic retry failed. If …',
  };
  it('are the server’s in English', () => {
    expect(inThisLanguage(later)).toBe(later);
  });
  it('are Chinese where they are known, else as they came', async () => {
    await loadLanguage('zh-TW');
    changeSettings({ language: 'zh-TW' });
    expect(inThisLanguage({ title: 'Slow down', detail: 'x' }).title).toBe('放慢速度');
    expect(inThisLanguage(later).detail).toContain('所有自動重試');
    const unknown = { title: 'Ask somebody', detail: 'They know' };
    expect(inThisLanguage(unknown)).toEqual(unknown);
  });
});
