import { describe, expect, it } from 'vitest';
import { parseSearch, stringifySearch } from '@/app/search';
import {
  checkFilter,
  clearFilter,
  type FilterField,
  filterWords,
  isFiltered,
  parseTyped,
} from './filter';

const FIELDS: FilterField[] = [
  {
    key: 'status',
    label: 'Status',
    kind: 'choice',
    several: true,
    options: [
      { value: 'dlq', label: 'dead letter' },
      { value: 'retrying', label: 'retrying' },
    ],
  },
  { key: 'workflow', label: 'Workflow', kind: 'text', several: true },
  { key: 'version', label: 'Version', kind: 'text', valid: (text) => /^\d+$/.test(text) },
];

const throughUrl = (value: Record<string, string | undefined>) =>
  checkFilter(parseSearch(stringifySearch(value)), FIELDS);

describe('filter and URL', () => {
  it('survive each other', () => {
    const value = {
      status: 'dlq,retrying',
      workflow: 'crm_*,order & more',
      version: '7',
      from: '-7d',
      to: '2026-11-18T09:30:00.000Z',
      q: 'a=b&c="d" 100% 死信 #1',
    };
    expect(throughUrl(value)).toEqual({ value, wrong: [] });
  });

  it('stay readable', () => {
    expect(
      stringifySearch({ status: 'dlq,retrying', from: '-7d', to: '2026-11-18T09:30:00Z' }),
    ).toBe('?status=dlq,retrying&from=-7d&to=2026-11-18T09:30:00Z');
    expect(stringifySearch({ q: '', from: undefined })).toBe('');
  });

  it('drop and name what cannot be meant', () => {
    expect(throughUrl({ status: 'dlq,nonsense', version: 'x', from: 'yesterday' })).toEqual({
      value: { status: 'dlq' },
      wrong: ['status:nonsense', 'version:x', 'from:yesterday'],
    });
  });

  it('join repeated names', () => {
    expect(parseSearch('?status=dlq&status=retrying&empty=')).toEqual({ status: 'dlq,retrying' });
  });
});

describe('typed text', () => {
  it('becomes filters, and what is left is searched for', () => {
    expect(parseTyped('status:dlq workflow:crm_* from:-7d timeout at crm', FIELDS)).toEqual({
      change: { status: 'dlq', workflow: 'crm_*', from: '-7d' },
      rest: 'timeout at crm',
      wrong: [],
    });
  });

  it('collects several values of one field, and keeps quoted ones whole', () => {
    const typed = parseTyped('status:dlq status:retrying workflow:"a b" "two words"', FIELDS);
    expect(typed.change).toEqual({ status: 'dlq,retrying', workflow: 'a b' });
    expect(typed.rest).toBe('two words');
  });

  it('names wrong values, and leaves unknown fields as text', () => {
    expect(parseTyped('status:nope http://x exec_1', FIELDS)).toEqual({
      change: {},
      rest: 'http://x exec_1',
      wrong: ['status:nope'],
    });
  });
});

describe('words', () => {
  it('tell the filters, and clearing keeps the rest', () => {
    const value = { status: 'dlq', q: 'x', view: 'groups' };
    expect(isFiltered(value, FIELDS)).toBe(true);
    expect(filterWords(value, FIELDS)).toBe('Status: dead letter · “x”');
    expect(clearFilter(value, FIELDS)).toEqual({ view: 'groups' });
    expect(isFiltered({ view: 'groups' }, FIELDS)).toBe(false);
  });
});
