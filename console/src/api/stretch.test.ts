import { expect, it } from 'vitest';
import { pageOf, stretchOf } from './stretch';

it('asks for the same stretch of time on every page of a list', async () => {
  const asked: (string | undefined)[] = [];
  const read = async (filter: { from?: string }) => {
    asked.push(filter.from);
    await new Promise((resolve) => setTimeout(resolve, 5));
    return { items: [], next_cursor: `c${asked.length}` };
  };
  const filter = { from: '-7d', status: 'pending' };
  await pageOf(filter, null, read);
  await pageOf(filter, 'c1', read);
  await pageOf(filter, 'c2', read);
  expect(asked[0]).toMatch(/^\d{4}-.*Z$/);
  expect(new Set(asked).size).toBe(1);
  await pageOf(filter, null, read);
  expect(asked[3]).not.toBe(asked[0]);
});

it('leaves absolute times as they are', () => {
  const from = '2026-11-18T09:00:00Z';
  expect(stretchOf({ from }).from).toBe('2026-11-18T09:00:00.000Z');
});
