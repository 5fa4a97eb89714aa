/** Attempts over time: a row per step, bars for what ran, dots for waits. Arrows walk the bars. */
import { Switch, Tooltip } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useEffect,
  useMemo,
  useRef,
} from 'react';
import { t } from '@/i18n/t';
import { useKept } from '@/settings/kept';
import { formatDuration } from '@/time/format';
import { type Bar, type Layout, layOut, neighbour, type Span, under } from './layout';
import classes from './timeline.module.css';

interface TimelineProps {
  spans: Span[];
  start: number;
  end?: number;
  now: number;
  label: string;
  /** What stands before a row. */
  rowLabel: (row: string) => ReactNode;
  selected?: string;
  select: (id: string) => void;
}

const ARROWS = /^(Arrow(Left|Right|Up|Down)|Home|End)$/;
/** The height of a row and of the axis, and how near a click must be to a thin bar, as in timeline.module.css. */
const ROW_PX = 28;
const REACH_PX = 12;
const OVERSCAN = 6;

export function Timeline(props: TimelineProps) {
  const { spans, start, end, now, selected, select } = props;
  const [collapse, setCollapse] = useKept('timeline.collapse', false);
  const layout = useMemo(
    () => layOut(spans, { start, end, now, collapse }),
    [spans, start, end, now, collapse],
  );
  const box = useRef<HTMLDivElement>(null);
  const first = layout.rows.flatMap((row) => row.bars).find((bar) => !bar.passive)?.id;
  const rowOf = (id: string | undefined) =>
    layout.rows.findIndex((row) => row.bars.some((bar) => bar.id === id));
  const stop = rowOf(selected) === -1 ? first : selected;
  const virtual = useVirtualizer({
    count: layout.rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => layout.rows[index]!.id,
    overscan: OVERSCAN,
    scrollMargin: ROW_PX,
    scrollPaddingStart: ROW_PX,
    initialRect: { width: 1000, height: 360 },
  });

  // A bar that a key led to is drawn by one of the next renders.
  const wanted = useRef<string>(undefined);
  useEffect(() => {
    if (!wanted.current) return;
    const bar = box.current?.querySelector<HTMLElement>(
      `[data-bar="${CSS.escape(wanted.current)}"]`,
    );
    if (!bar) return;
    wanted.current = undefined;
    bar.focus({ preventScroll: true });
  });
  const onKeyDown = (event: KeyboardEvent) => {
    if (!ARROWS.test(event.key)) return;
    const next = neighbour(layout, stop, event.key);
    if (!next) return;
    event.preventDefault();
    wanted.current = next;
    virtual.scrollToIndex(rowOf(next), { align: 'auto' });
    select(next);
  };

  return (
    <div className={classes.frame}>
      <div className={classes.tools}>
        <Legend />
        <Switch
          size="xs"
          label={t('execution.collapseWaits')}
          checked={collapse}
          onChange={(event) => setCollapse(event.currentTarget.checked)}
        />
      </div>
      <div
        ref={box}
        role="group"
        aria-label={props.label}
        className={classes.rows}
        onKeyDown={onKeyDown}
      >
        <Axis layout={layout} />
        <div className={classes.lines} style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map((item) => {
            const row = layout.rows[item.index];
            if (!row) return null;
            return (
              <div
                key={row.id}
                className={classes.row}
                style={{ transform: `translateY(${item.start - ROW_PX}px)` }}
              >
                <div className={classes.name}>{props.rowLabel(row.id)}</div>
                <div className={classes.track}>
                  <Guides layout={layout} />
                  {row.bars.map((bar) => (
                    <BarView
                      key={bar.id}
                      bar={bar}
                      pressed={bar.id === selected}
                      stop={bar.id === stop}
                      click={(event) => select(clicked(row.bars, bar, event, selected))}
                    />
                  ))}
                </div>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** Bars may lie so close that one covers the next: another click there goes on to the next. */
function clicked(bars: Bar[], bar: Bar, event: MouseEvent, selected: string | undefined): string {
  const track = event.currentTarget.parentElement?.getBoundingClientRect();
  // The keyboard means the bar that has the focus.
  if (!track || event.detail === 0) return bar.id;
  const here = under(bars, (event.clientX - track.left) / track.width, REACH_PX / track.width);
  const at = here.indexOf(selected ?? '');
  if (at !== -1) return here[(at + 1) % here.length]!;
  return here[0] ?? bar.id;
}

interface BarViewProps {
  bar: Bar;
  pressed: boolean;
  stop: boolean;
  click: (event: MouseEvent) => void;
}

function BarView({ bar, pressed, stop, click }: BarViewProps) {
  const place = { left: percent(bar.left), width: percent(bar.width) };
  return (
    <Tooltip label={bar.label}>
      {bar.passive ? (
        <span className={classes.wait} data-kind={bar.kind} style={place} />
      ) : (
        <button
          type="button"
          className={classes.bar}
          data-bar={bar.id}
          data-kind={bar.kind}
          data-open={bar.open || undefined}
          aria-label={bar.label}
          aria-pressed={pressed}
          tabIndex={stop ? 0 : -1}
          style={place}
          onClick={click}
        />
      )}
    </Tooltip>
  );
}

/** A duration of whole units, without its zeros: `2 s`, `10m`. */
const roundDuration = (ms: number) =>
  formatDuration(ms)
    .replace(/ 00?[smh]$/, '')
    .replace('.0 s', ' s');

const percent = (share: number) => `${(share * 100).toFixed(3)}%`;

function Axis({ layout }: { layout: Layout }) {
  return (
    <div className={classes.head} aria-hidden="true">
      <div className={classes.name} />
      <div className={classes.axis}>
        {layout.ticks.map((tick) => (
          <span key={tick.at} style={{ left: percent(tick.left) }}>
            {tick.at === 0 ? '0' : roundDuration(tick.at)}
          </span>
        ))}
        {layout.gaps.map((gap) => (
          <span
            key={gap.left}
            className={classes.gapText}
            style={{ left: percent(gap.left + gap.width / 2) }}
          >
            {formatDuration(gap.ms)}
          </span>
        ))}
      </div>
    </div>
  );
}

function Guides({ layout }: { layout: Layout }) {
  return (
    <>
      {layout.ticks.map((tick) => (
        <span key={tick.at} className={classes.guide} style={{ left: percent(tick.left) }} />
      ))}
      {layout.gaps.map((gap) => (
        <span
          key={gap.left}
          className={classes.gap}
          style={{ left: percent(gap.left), width: percent(gap.width) }}
        />
      ))}
      {layout.now !== undefined && (
        <span className={classes.now} style={{ left: percent(layout.now) }} />
      )}
    </>
  );
}

function Legend() {
  const kinds = [
    ['completed', t('execution.legendDone')],
    ['failed', t('execution.legendFailed')],
    ['running', t('execution.legendRunning')],
    ['waiting', t('execution.legendWaiting')],
    ['backoff', t('execution.legendBackoff')],
    ['planned', t('execution.legendPlanned')],
  ] as const;
  return (
    <div className={classes.legend} aria-hidden="true">
      {kinds.map(([kind, label]) => (
        <span key={kind}>
          <i data-kind={kind} />
          {label}
        </span>
      ))}
    </div>
  );
}
