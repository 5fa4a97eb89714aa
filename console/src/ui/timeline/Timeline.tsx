/** Attempts over time: a row per step, bars for what ran, dots for waits. Arrows walk the bars. */
import { Switch, Tooltip } from '@mantine/core';
import { type KeyboardEvent, type ReactNode, useMemo, useRef } from 'react';
import { t } from '@/i18n/t';
import { useKept } from '@/settings/kept';
import { formatDuration } from '@/time/format';
import { type Layout, layOut, neighbour, type Span } from './layout';
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

export function Timeline(props: TimelineProps) {
  const { spans, start, end, now, selected, select } = props;
  const [collapse, setCollapse] = useKept('timeline.collapse', false);
  const layout = useMemo(
    () => layOut(spans, { start, end, now, collapse }),
    [spans, start, end, now, collapse],
  );
  const box = useRef<HTMLDivElement>(null);
  const first = layout.rows.flatMap((row) => row.bars).find((bar) => !bar.passive)?.id;
  const stop = layout.rows.some((row) => row.bars.some((bar) => bar.id === selected))
    ? selected
    : first;

  const onKeyDown = (event: KeyboardEvent) => {
    if (!ARROWS.test(event.key)) return;
    const next = neighbour(layout, stop, event.key);
    if (!next) return;
    event.preventDefault();
    select(next);
    box.current?.querySelector<HTMLElement>(`[data-bar="${CSS.escape(next)}"]`)?.focus();
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
        {layout.rows.map((row) => (
          <div key={row.id} className={classes.row}>
            <div className={classes.name}>{props.rowLabel(row.id)}</div>
            <div className={classes.track}>
              <Guides layout={layout} />
              {row.bars.map((bar) =>
                bar.passive ? (
                  <Tooltip key={bar.id} label={bar.label}>
                    <span
                      className={classes.wait}
                      data-kind={bar.kind}
                      style={{ left: percent(bar.left), width: percent(bar.width) }}
                    />
                  </Tooltip>
                ) : (
                  <Tooltip key={bar.id} label={bar.label}>
                    <button
                      type="button"
                      className={classes.bar}
                      data-bar={bar.id}
                      data-kind={bar.kind}
                      data-open={bar.open || undefined}
                      aria-label={bar.label}
                      aria-pressed={bar.id === selected}
                      tabIndex={bar.id === stop ? 0 : -1}
                      style={{ left: percent(bar.left), width: percent(bar.width) }}
                      onClick={() => select(bar.id)}
                    />
                  </Tooltip>
                ),
              )}
            </div>
          </div>
        ))}
      </div>
    </div>
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
    <div className={classes.row} aria-hidden="true">
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
