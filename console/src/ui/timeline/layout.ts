/** Where the bars of a time line lie: pure, so that it can be tested. */

export type BarKind =
  | 'queued'
  | 'running'
  | 'completed'
  | 'failed'
  | 'cancelled'
  | 'waiting'
  | 'backoff'
  | 'planned';

/** An attempt of a step, or a wait, in milliseconds since 1970. A planned one has only a beginning. */
export interface Span {
  id: string;
  row: string;
  kind: BarKind;
  from: number;
  /** Nothing while it lasts. */
  to?: number;
  /** What it is, for readers. */
  label: string;
  /** Waits cannot be walked to. */
  passive?: boolean;
}

export interface Bar extends Span {
  /** Share of the width, 0 to 1. */
  left: number;
  width: number;
  open: boolean;
}

export interface Tick {
  at: number;
  left: number;
}

/** A stretch in which nothing ran and which is drawn shorter. */
export interface Gap {
  left: number;
  width: number;
  ms: number;
}

export interface Layout {
  start: number;
  end: number;
  rows: { id: string; bars: Bar[] }[];
  ticks: Tick[];
  gaps: Gap[];
  now?: number;
}

/** Round distances between ticks, in milliseconds. */
const STEPS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * 1_000),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  ...[1, 2, 3, 6, 12].map((hours) => hours * 3_600_000),
];
const DAY = 86_400_000;
const WANTED_TICKS = 6;
/** A gap that is drawn shorter takes this share of the time in which something ran. */
const GAP_SHARE = 0.12;
/** Room to the right of what still goes on. */
const LEAST_MS = 10;

/** A round distance between ticks for a length of time. */
export function tickStep(length: number): number {
  const rough = length / WANTED_TICKS;
  return STEPS.find((step) => step >= rough) ?? Math.ceil(rough / DAY) * DAY;
}

type Interval = [from: number, to: number];

/** The stretches in which something ran, joined where they touch. */
function busy(spans: Span[], now: number): Interval[] {
  const running = spans
    .filter((span) => !span.passive && span.kind !== 'planned')
    .map((span): Interval => [span.from, Math.max(span.from, span.to ?? now)])
    .sort((a, b) => a[0] - b[0]);
  const joined: Interval[] = [];
  for (const [from, to] of running) {
    const last = joined.at(-1);
    if (last && from <= last[1]) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  return joined;
}

interface Scale {
  (at: number): number;
  gaps: Gap[];
}

function linear(start: number, end: number): Scale {
  const length = Math.max(LEAST_MS, end - start);
  return Object.assign((at: number) => (at - start) / length, { gaps: [] });
}

/** Time with its idle stretches drawn shorter. */
function collapsed(start: number, end: number, spans: Span[], now: number): Scale {
  const stretches = busy(spans, now);
  const points: { at: number; to: number; drawn: number; ran: boolean }[] = [];
  let at = start;
  for (const [from, to] of stretches) {
    if (from > at) points.push({ at, to: from, drawn: from - at, ran: false });
    if (to > Math.max(at, from))
      points.push({ at: Math.max(at, from), to, drawn: to - Math.max(at, from), ran: true });
    at = Math.max(at, to);
  }
  if (end > at) points.push({ at, to: end, drawn: end - at, ran: false });
  const ranMs = points.reduce((sum, point) => sum + (point.ran ? point.drawn : 0), 0);
  const most = Math.max(LEAST_MS, ranMs * GAP_SHARE);
  for (const point of points) if (!point.ran) point.drawn = Math.min(point.drawn, most);
  const total = Math.max(
    1,
    points.reduce((sum, point) => sum + point.drawn, 0),
  );

  const gaps: Gap[] = [];
  let left = 0;
  for (const point of points) {
    if (!point.ran && point.drawn < point.to - point.at)
      gaps.push({ left: left / total, width: point.drawn / total, ms: point.to - point.at });
    left += point.drawn;
  }
  const scale = (when: number) => {
    let before = 0;
    for (const point of points) {
      if (when <= point.to) {
        const share = (when - point.at) / Math.max(1, point.to - point.at);
        return (before + Math.max(0, share) * point.drawn) / total;
      }
      before += point.drawn;
    }
    return 1;
  };
  return Object.assign(scale, { gaps });
}

export function layOut(
  spans: Span[],
  options: { start: number; end?: number; now: number; collapse?: boolean },
): Layout {
  const { start, now } = options;
  const ends = spans.map((span) => span.to ?? (span.kind === 'planned' ? span.from : now));
  const end = Math.max(options.end ?? start, start + LEAST_MS, ...ends);
  const scale = options.collapse ? collapsed(start, end, spans, now) : linear(start, end);

  const rows = new Map<string, Bar[]>();
  for (const span of spans) {
    const open = span.to === undefined && span.kind !== 'planned';
    const left = scale(span.from);
    const right = scale(span.to ?? (open ? now : span.from));
    const bars = rows.get(span.row) ?? [];
    bars.push({ ...span, left, width: Math.max(0, right - left), open });
    rows.set(span.row, bars);
  }

  const step = tickStep(end - start);
  const ticks: Tick[] = [];
  if (!options.collapse)
    for (let at = 0; at <= end - start; at += step) ticks.push({ at, left: scale(start + at) });
  return {
    start,
    end,
    rows: [...rows].map(([id, bars]) => ({ id, bars })),
    ticks,
    gaps: scale.gaps,
    now: now > start && now < end ? scale(now) : undefined,
  };
}

/** The bars at a place of a row, the nearest first; `reach` is how far from it a thin one may be. */
export function under(bars: readonly Bar[], at: number, reach: number): string[] {
  const away = (bar: Bar) => Math.max(bar.left - at, at - bar.left - bar.width, 0);
  const middle = (bar: Bar) => Math.abs(bar.left + bar.width / 2 - at);
  return bars
    .filter((bar) => !bar.passive && away(bar) <= reach)
    .sort((a, b) => away(a) - away(b) || middle(a) - middle(b))
    .map((bar) => bar.id);
}

/** The bar an arrow key leads to. */
export function neighbour(layout: Layout, id: string | undefined, key: string): string | undefined {
  const rows = layout.rows
    .map((row) => row.bars.filter((bar) => !bar.passive))
    .filter((r) => r.length);
  const at = rows.findIndex((row) => row.some((bar) => bar.id === id));
  const row = rows[at];
  if (!row) return rows[0]?.[0]?.id;
  const column = row.findIndex((bar) => bar.id === id);
  const bar = row[column]!;
  if (key === 'ArrowRight') return (row[column + 1] ?? rows[at + 1]?.[0])?.id ?? id;
  if (key === 'ArrowLeft') return (row[column - 1] ?? rows[at - 1]?.at(-1))?.id ?? id;
  if (key === 'Home') return rows[0]?.[0]?.id;
  if (key === 'End') return rows.at(-1)?.at(-1)?.id;
  const other = rows[at + (key === 'ArrowDown' ? 1 : -1)];
  if (!other) return id;
  return other.reduce((best, each) =>
    Math.abs(each.left - bar.left) < Math.abs(best.left - bar.left) ? each : best,
  ).id;
}
