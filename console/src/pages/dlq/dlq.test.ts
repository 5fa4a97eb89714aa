import { afterEach, describe, expect, it, vi } from 'vitest';
import { parseExact } from '@/api/exact';
import { ApiProblem } from '@/api/problem';
import { type Letter, retryRequest } from '@/api/queries/dlq';
import { loadLanguage } from '@/i18n/t';
import { changeSettings } from '@/settings/settings';
import { attemptsOf, longestWait } from './attempts';
import { type BulkItem, bulkItems, countStates, groupsOf, runBulk } from './bulk';
import { changesOf, parseInput, placeOf } from './changes';
import { isNarrowed, letterFields, readFilter, writeFilter } from './filter';
import { inThisLanguage } from './suggestions';

const letter = (id: string, more: Partial<Letter> = {}) =>
  ({
    id,
    workflow_id: 'crm',
    error_type: 'http_status',
    error_code: '503',
    status: 'pending',
    ...more,
  }) as Letter;

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
    const { body } = retryRequest('dlq_1', 'failed_step', '{"n": 12345678901234567890}');
    expect(body).toBe('{"from":"failed_step","input":{"n": 12345678901234567890}}');
    expect(retryRequest('dlq_1', 'start').body).toBe('{"from":"start"}');
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

describe('several letters', () => {
  const send = vi.fn(async (one: Letter) => {
    if (one.id === 'b') throw new ApiProblem(problem);
    return { execution_id: `exec_${one.id}` };
  });
  const problem = { type: '', title: 'no', status: 409, code: 'RF0019', detail: 'not pending' };

  it('are only those that wait', () => {
    expect(bulkItems([letter('a'), letter('b', { status: 'resolved' })])).toHaveLength(1);
    expect(groupsOf([letter('a'), letter('b'), letter('c', { workflow_id: 'erp' })])).toEqual([
      { workflow: 'crm', error: 'http_status 503', count: 2 },
      { workflow: 'erp', error: 'http_status 503', count: 1 },
    ]);
  });
  it('go on after one is refused, and say why', async () => {
    let items: BulkItem[] = bulkItems([letter('a'), letter('b'), letter('c')]);
    const { signal } = new AbortController();
    const change = (next: BulkItem[]) => {
      items = next;
    };
    await runBulk({ items, action: 'retry', from: 'start', change, signal, send });
    expect(countStates(items)).toEqual({ waiting: 0, running: 0, done: 2, refused: 1 });
    expect(items[1]?.reason).toBe('not pending');
    expect(items[2]?.execution).toBe('exec_c');
  });
  it('stop when they are told to', async () => {
    const abort = new AbortController();
    let items: BulkItem[] = bulkItems([letter('a'), letter('c')]);
    await runBulk({
      items,
      action: 'retry',
      from: 'start',
      signal: abort.signal,
      send,
      change: (next) => {
        items = next;
        abort.abort();
      },
    });
    expect(countStates(items).waiting).toBe(1);
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
