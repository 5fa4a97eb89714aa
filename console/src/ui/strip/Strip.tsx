/**
 * A strip of small cells, oldest left: one tab stop, arrows walk, Shift or a drag takes a range,
 * Enter opens. What a cell means stands in its label and, on pages, in words beside the strip.
 */
import { type KeyboardEvent, type PointerEvent, useEffect, useId, useRef } from 'react';
import type { Tone } from '../status/status';
import classes from './strip.module.css';

export interface StripCell {
  key: string;
  tone: Tone | 'planned';
  /** A letter or number inside the cell. */
  mark?: string;
  /** Everything about the cell in words. */
  label: string;
  wide?: boolean;
}

/** The first and the last chosen cell, by index; the last one has the cursor. */
export interface StripRange {
  anchor: number;
  head: number;
}

interface StripProps {
  cells: readonly StripCell[];
  label: string;
  range: StripRange | undefined;
  onRange: (range: StripRange | undefined) => void;
  onOpen?: (index: number) => void;
  /** The pointer or the focus is in the strip: its cells should stand still. */
  onHold?: (held: boolean) => void;
  /** Cells from this index on are still to come. */
  nowAt?: number;
  nowLabel?: string;
}

const STEPS: Record<string, number> = {
  ArrowRight: 1,
  ArrowLeft: -1,
  PageDown: 10,
  PageUp: -10,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
};

export function isInRange(index: number, range: StripRange | undefined): boolean {
  if (!range) return false;
  const { anchor, head } = range;
  return index >= Math.min(anchor, head) && index <= Math.max(anchor, head);
}

/** Where a key leads from the present range. */
export function walk(
  key: string,
  shift: boolean,
  range: StripRange | undefined,
  count: number,
): StripRange | undefined {
  const step = STEPS[key];
  if (step === undefined || count === 0) return undefined;
  const from = range?.head ?? (step > 0 ? -1 : count);
  const head = Math.min(count - 1, Math.max(0, from + step));
  return { head, anchor: shift && range ? range.anchor : head };
}

export function Strip(props: StripProps) {
  const { cells, label, range, onRange, onOpen, onHold, nowAt, nowLabel } = props;
  const inside = useRef({ pointer: false, focus: false });
  const hold = (what: 'pointer' | 'focus', value: boolean) => {
    inside.current[what] = value;
    onHold?.(inside.current.pointer || inside.current.focus);
  };
  const id = useId();
  const host = useRef<HTMLDivElement>(null);
  const dragging = useRef(false);
  const head = range?.head;

  useEffect(() => {
    if (head !== undefined && host.current?.contains(document.activeElement))
      host.current
        .querySelector(`[data-index="${head}"]`)
        ?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [head]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && head !== undefined) onOpen?.(head);
    else if (event.key === 'Escape' && range) onRange(undefined);
    else {
      const next = walk(event.key, event.shiftKey, range, cells.length);
      if (!next) return;
      onRange(next);
    }
    event.preventDefault();
    event.stopPropagation();
  };

  const indexOf = (event: PointerEvent) => {
    const cell = document
      .elementFromPoint(event.clientX, event.clientY)
      ?.closest<HTMLElement>('[data-index]');
    return cell && host.current?.contains(cell) ? Number(cell.dataset.index) : undefined;
  };

  return (
    <div
      ref={host}
      className={classes.strip}
      role="listbox"
      aria-label={label}
      aria-orientation="horizontal"
      aria-multiselectable="true"
      aria-activedescendant={head === undefined ? undefined : `${id}-${head}`}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onFocus={() => {
        hold('focus', true);
        if (!range && cells.length > 0 && host.current?.matches(':focus-visible'))
          onRange(walk('End', false, undefined, nowAt ?? cells.length));
      }}
      onPointerDown={(event) => {
        const at = indexOf(event);
        if (at === undefined) return;
        dragging.current = true;
        onRange({ head: at, anchor: event.shiftKey && range ? range.anchor : at });
      }}
      onPointerMove={(event) => {
        if (!dragging.current || !range) return;
        const at = indexOf(event);
        if (at !== undefined && at !== head) onRange({ head: at, anchor: range.anchor });
      }}
      onPointerUp={() => {
        dragging.current = false;
      }}
      onBlur={() => hold('focus', false)}
      onPointerEnter={() => hold('pointer', true)}
      onPointerLeave={() => {
        hold('pointer', false);
        dragging.current = false;
      }}
    >
      {cells.map((cell, index) => (
        <span key={cell.key} className={classes.place} role="presentation">
          {index === nowAt && (
            <span className={classes.now} role="presentation">
              {nowLabel}
            </span>
          )}
          <span
            id={`${id}-${index}`}
            data-index={index}
            role="option"
            aria-selected={isInRange(index, range)}
            aria-label={cell.label}
            title={cell.label}
            className={classes.cell}
            data-tone={cell.tone}
            data-wide={cell.wide || undefined}
            data-head={index === head || undefined}
            data-mark={cell.mark}
          />
        </span>
      ))}
    </div>
  );
}

/** The same at a glance, for rows of lists: one picture with one text. */
export function MiniStrip({ cells, label }: { cells: readonly StripCell[]; label: string }) {
  return (
    <span className={classes.mini} role="img" aria-label={label} title={label}>
      {cells.map((cell) => (
        <span key={cell.key} className={classes.bar} data-tone={cell.tone} />
      ))}
    </span>
  );
}
