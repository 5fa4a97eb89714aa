/**
 * Relative times of a filter ("the last 7 days") become absolute with the first page. The pages after it ask
 * for the same stretch of time, because a cursor belongs to what was asked.
 */
import { serverNow } from '@/live/clock';
import { absoluteTime } from '@/time/range';

interface Stretch {
  from?: string;
  to?: string;
}

/** Cursors that are remembered; the oldest are forgotten. */
const MOST_CURSORS = 500;
const asked = new Map<string, Stretch>();

export function stretchOf({ from, to }: Stretch, cursor: string | null = null): Stretch {
  const before = cursor === null ? undefined : asked.get(cursor);
  if (before) return before;
  const now = serverNow();
  return { from: absoluteTime(from, now), to: absoluteTime(to, now) };
}

/** A page by a filter whose times may be relative. */
export async function pageOf<Filter extends Stretch, P extends { next_cursor?: string | null }>(
  filter: Filter,
  cursor: string | null,
  read: (filter: Filter) => Promise<P>,
): Promise<P> {
  const stretch = stretchOf(filter, cursor);
  const page = await read({ ...filter, ...stretch });
  if (page.next_cursor) {
    asked.set(page.next_cursor, stretch);
    const [oldest] = asked.keys();
    if (asked.size > MOST_CURSORS && oldest !== undefined) asked.delete(oldest);
  }
  return page;
}
