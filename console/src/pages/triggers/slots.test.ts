import { describe, expect, it } from 'vitest';
import { ApiProblem } from '@/api/problem';
import type { LedgerEntry } from '@/api/queries/triggers';
import { FieldErrors } from '@/ui/form/fieldErrors';
import { isInRange, walk } from '@/ui/strip/Strip';
import { readDraft, sameDraft } from './form/useFormDraft';
import { byPlannedTime, countLooks, localText, lookOf, stillMissed, stretchText } from './slots';

const entry = (part: Partial<LedgerEntry>): LedgerEntry => ({
  nominal: '2026-11-18T13:00:00Z',
  to: part.nominal ?? '2026-11-18T13:00:00Z',
  count: 1,
  status: 'fired',
  at: part.nominal ?? '2026-11-18T13:00:00Z',
  local: '2026-11-18T21:00:00+08:00',
  local_to: '2026-11-18T21:00:00+08:00',
  ...part,
});

describe('the ledger', () => {
  it('shows what became of a planned time', () => {
    expect(lookOf({ status: 'skipped', reason: 'overlap' })).toBe('overlap');
    expect(lookOf({ status: 'late', reason: 'backfill' })).toBe('backfill');
    expect(lookOf({ status: 'skipped', reason: 'something new' })).toBe('missed');
  });

  it('counts stretches by their length', () => {
    const entries = [entry({}), entry({ status: 'skipped', reason: 'paused', count: 4 })];
    expect(countLooks(entries)).toEqual([
      ['fired', 1],
      ['paused', 4],
    ]);
  });

  it('does not count as missed what was run later', () => {
    const stretch = entry({
      status: 'skipped',
      reason: 'missed',
      count: 3,
      nominal: '2026-11-18T13:00:00Z',
      to: '2026-11-18T13:02:00Z',
    });
    const later = entry({ status: 'late', reason: 'backfill', nominal: '2026-11-18T13:01:00Z' });
    expect(stillMissed([stretch])).toBe(3);
    expect(stillMissed([stretch, later])).toBe(2);
  });

  it('is in the order of planned times', () => {
    const first = entry({ nominal: '2026-11-18T13:00:00Z', at: '2026-11-18T15:00:00Z' });
    const second = entry({ nominal: '2026-11-18T14:00:00Z' });
    expect(byPlannedTime([second, first])).toEqual([first, second]);
  });

  it('writes times for people', () => {
    expect(localText('2026-11-19T15:00:00+08:00')).toBe('2026-11-19 15:00:00 +08:00');
    expect(localText('2026-11-19T15:00:00.714+00:00')).toBe('2026-11-19 15:00:00 UTC');
    const stretch = {
      local: '2026-11-19T15:00:00+08:00',
      local_to: '2026-11-19T16:00:00+08:00',
      count: 2,
    };
    expect(stretchText(stretch)).toBe('2026-11-19 15:00:00 – 16:00:00 +08:00 (2)');
  });
});

describe('a strip', () => {
  it('is walked by keys', () => {
    expect(walk('ArrowLeft', false, undefined, 5)).toEqual({ head: 4, anchor: 4 });
    expect(walk('ArrowLeft', true, { head: 4, anchor: 4 }, 5)).toEqual({ head: 3, anchor: 4 });
    expect(walk('Home', false, { head: 4, anchor: 4 }, 5)).toEqual({ head: 0, anchor: 0 });
    expect(walk('x', false, undefined, 5)).toBeUndefined();
    expect(isInRange(2, { head: 1, anchor: 3 })).toBe(true);
  });
});

describe('errors of the server', () => {
  const problem = new ApiProblem({
    type: '',
    title: '',
    status: 400,
    code: 'RF0032',
    detail: '',
    errors: [
      { field: 'settings.filters[0].json_path', message: 'is wrong', hint: 'write $' },
      { field: 'daily.time[1]', message: '`9` is not a time' },
      { field: 'strange', message: 'is unknown' },
    ],
  });
  it('show at their field', () => {
    const errors = new FieldErrors(problem, problem);
    expect(errors.at('filters[0].json_path')).toBe('is wrong (write $)');
    expect(errors.at('daily')).toBe('`9` is not a time');
    expect(errors.at('dail')).toBeUndefined();
    expect(errors.besides(['filters', 'daily']).map((each) => each.field)).toEqual(['strange']);
  });
});

describe('drafts', () => {
  it('do not differ by the keys of rows', () => {
    expect(sameDraft({ rows: [{ key: 1, a: 2 }] }, { rows: [{ key: 7, a: 2 }] })).toBe(true);
    expect(sameDraft({ rows: [{ key: 1, a: 2 }] }, { rows: [{ key: 1, a: 3 }] })).toBe(false);
  });
  it('are forgotten after a week, and when they cannot be read', () => {
    localStorage.setItem(
      'refire.draft.x',
      JSON.stringify({ draft: { a: 1 }, version: 2, at: 1_000 }),
    );
    expect(readDraft('x', 2_000)).toMatchObject({ draft: { a: 1 }, version: 2 });
    expect(readDraft('x', 1_000 + 8 * 24 * 3_600_000)).toBeUndefined();
    localStorage.setItem('refire.draft.x', '{');
    expect(readDraft('x')).toBeUndefined();
  });
});
