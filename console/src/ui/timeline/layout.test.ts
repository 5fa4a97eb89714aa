import { describe, expect, it } from 'vitest';
import { layOut, neighbour, type Span, tickStep, under } from './layout';

const span = (
  id: string,
  row: string,
  from: number,
  to?: number,
  more: Partial<Span> = {},
): Span => ({
  id,
  row,
  kind: 'failed',
  from,
  to,
  label: id,
  ...more,
});

const RETRIES: Span[] = [
  span('a1', 'a', 0, 10),
  span('w', 'a', 10, 1010, { passive: true, kind: 'backoff' }),
  span('a2', 'a', 1010, 1020),
  span('b1', 'b', 1020, 1040, { kind: 'completed' }),
];

describe('time line', () => {
  it('lays bars out in proportion', () => {
    const layout = layOut(RETRIES, { start: 0, end: 1040, now: 1040 });
    expect(layout.rows.map((row) => row.id)).toEqual(['a', 'b']);
    const [first, wait, second] = layout.rows[0]!.bars;
    expect(first).toMatchObject({ left: 0, width: 10 / 1040 });
    expect(wait!.width).toBeCloseTo(1000 / 1040);
    expect(second!.left).toBeCloseTo(1010 / 1040);
    expect(layout.gaps).toEqual([]);
    expect(layout.ticks[1]!.at).toBe(200);
  });

  it('draws waits shorter when they are collapsed, in the same order', () => {
    const layout = layOut(RETRIES, { start: 0, end: 1040, now: 1040, collapse: true });
    expect(layout.gaps).toHaveLength(1);
    expect(layout.gaps[0]!.ms).toBe(1000);
    const lefts = layout.rows.flatMap((row) => row.bars.map((bar) => bar.left));
    expect(lefts).toEqual(lefts.toSorted((x, y) => x - y));
    expect(layout.rows[1]!.bars[0]!.left + layout.rows[1]!.bars[0]!.width).toBeCloseTo(1);
    expect(layout.rows[0]!.bars[0]!.width).toBeGreaterThan(0.15);
  });

  it('makes room for a planned retry, and marks now', () => {
    const layout = layOut(
      [span('a1', 'a', 0, 100), span('p', 'a', 400, undefined, { kind: 'planned' })],
      {
        start: 0,
        now: 200,
      },
    );
    expect(layout.end).toBe(400);
    expect(layout.now).toBe(0.5);
    expect(layout.rows[0]!.bars[1]).toMatchObject({ left: 1, width: 0, open: false });
  });

  it('lets what runs end now', () => {
    const layout = layOut([span('r', 'a', 50, undefined, { kind: 'running' })], {
      start: 0,
      now: 100,
    });
    expect(layout.rows[0]!.bars[0]).toMatchObject({ open: true, left: 0.5, width: 0.5 });
  });

  it('has round ticks', () => {
    expect(tickStep(1000)).toBe(200);
    expect(tickStep(62_000)).toBe(15_000);
    expect(tickStep(660_000)).toBe(120_000);
    expect(tickStep(86_400_000 * 30)).toBe(86_400_000 * 5);
    expect(tickStep(3_600_000)).toBe(600_000);
    expect(tickStep(10)).toBe(2);
  });

  it('is walked by arrows, past the waits', () => {
    const layout = layOut(RETRIES, { start: 0, end: 1040, now: 1040 });
    expect(neighbour(layout, undefined, 'ArrowRight')).toBe('a1');
    expect(neighbour(layout, 'a1', 'ArrowRight')).toBe('a2');
    expect(neighbour(layout, 'a2', 'ArrowRight')).toBe('b1');
    expect(neighbour(layout, 'a2', 'ArrowDown')).toBe('b1');
    expect(neighbour(layout, 'b1', 'ArrowUp')).toBe('a2');
    expect(neighbour(layout, 'b1', 'ArrowRight')).toBe('b1');
    expect(neighbour(layout, 'b1', 'Home')).toBe('a1');
  });

  it('tells which bars lie at a place, the nearest first, without the waits', () => {
    const { bars } = layOut(RETRIES, { start: 0, end: 1040, now: 1040 }).rows[0]!;
    expect(under(bars, 0.005, 0.01)).toEqual(['a1']);
    expect(under(bars, 0.5, 0.6)).toEqual(['a2', 'a1']);
    expect(under(bars, 0.5, 0.01)).toEqual([]);
  });
});
