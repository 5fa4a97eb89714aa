/**
 * The steps of a workflow as a graph that can be moved, enlarged and walked by keys, or as a table.
 * With `states` it shows how one execution went:
 *
 *   <WorkflowGraph steps={stepsOf(definition)} states={{ pay: { status: 'failed', retries: 2 } }} />
 *
 * The part is loaded by `LazyGraph`, with the layout's code.
 */
import { ActionIcon, SegmentedControl, Tooltip } from '@mantine/core';
import { useElementSize } from '@mantine/hooks';
import { type KeyboardEvent, type PointerEvent, useId, useMemo, useRef, useState } from 'react';
import { t } from '@/i18n/t';
import { useKept } from '@/settings/kept';
import { IconMaximize, IconMinus, IconPlus } from '../icons';
import { GraphNode } from './GraphNode';
import classes from './graph.module.css';
import { type Direction, type Layout, layOut } from './layout';
import { StepTable } from './StepTable';
import type { GraphStep } from './steps';
import { useView } from './view';
import { neighbour } from './walk';

/** How a step of an execution stands. */
export interface StepState {
  status: string;
  /** Retries so far. */
  retries?: number;
  durationMs?: number | null;
  error?: string | null;
}

export interface WorkflowGraphProps {
  steps: GraphStep[];
  states?: Record<string, StepState | undefined>;
  selected?: string;
  onSelect?: (step: string | undefined) => void;
  /** Pixels at most; the table may be longer. */
  height?: number;
}

const NARROW_PX = 560;
const ZOOM = 1.25;
/** Room around a small graph, and the least height of its frame. */
const AROUND_PX = 120;
const LEAST_PX = 200;

export function WorkflowGraph(props: WorkflowGraphProps) {
  const [shape, setShape] = useKept<'graph' | 'table'>('graph.shape', 'graph');
  return (
    <div className={classes.graph}>
      <div className={classes.shape}>
        <SegmentedControl
          aria-label={t('workflow.shape')}
          value={shape}
          onChange={(value) => setShape(value as 'graph' | 'table')}
          data={[
            { value: 'graph', label: t('workflow.asGraph') },
            { value: 'table', label: t('workflow.asTable') },
          ]}
        />
      </div>
      {shape === 'table' ? <StepTable {...props} /> : <Drawing {...props} />}
    </div>
  );
}

/** The layout for a width: downwards where there is little. */
function useLayout(steps: GraphStep[], width: number): { layout: Layout; direction: Direction } {
  const direction: Direction = width > 0 && width < NARROW_PX ? 'TB' : 'LR';
  // What a step calls does not move it.
  const structure = steps
    .map((step) => [step.id, step.undoes, ...step.needs].join('\n'))
    .join('\n\n');
  // biome-ignore lint/correctness/useExhaustiveDependencies: the structure stands for the steps
  const layout = useMemo(() => layOut(steps, direction), [structure, direction]);
  return { layout, direction };
}

function Drawing({ steps, states, selected, onSelect, height = 340 }: WorkflowGraphProps) {
  const { ref: sized, width } = useElementSize();
  const { layout, direction } = useLayout(steps, width);
  const frame = useRef<HTMLDivElement>(null);
  const { view, showAll, zoom, move, reveal } = useView(
    frame,
    layout,
    layout.nodes.get(steps[0]?.id ?? ''),
  );
  const nodes = useRef(new Map<string, HTMLButtonElement>());
  const [focused, setFocused] = useState<string>();
  const stop = focused && layout.nodes.has(focused) ? focused : steps[0]?.id;

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (event.key === '+' || event.key === '=') zoom(ZOOM);
    else if (event.key === '-') zoom(1 / ZOOM);
    else if (event.key === '0') showAll();
    else if (event.key === 'Escape' && selected) onSelect?.(undefined);
    else {
      const next = stop && neighbour(layout, direction, stop, event.key);
      if (!next) {
        if (!event.key.startsWith('Arrow')) return;
      } else {
        nodes.current.get(next)?.focus({ preventScroll: true });
        reveal(layout.nodes.get(next)!);
      }
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div ref={sized} className={classes.outer}>
      <div
        ref={frame}
        className={classes.frame}
        style={{ height: Math.min(height, Math.max(LEAST_PX, layout.height + AROUND_PX)) }}
        role="group"
        aria-label={t('workflow.graphLabel', { count: steps.length })}
        onKeyDown={onKeyDown}
        onPointerDown={(event) => drag(event, move)}
      >
        <div
          className={classes.canvas}
          style={{ transform: `translate(${view.x}px, ${view.y}px) scale(${view.scale})` }}
        >
          <Edges layout={layout} states={states} />
          {steps.map((step) => {
            const place = layout.nodes.get(step.id);
            if (!place) return null;
            return (
              <GraphNode
                key={step.id}
                ref={(element) => {
                  if (element) nodes.current.set(step.id, element);
                  else nodes.current.delete(step.id);
                }}
                step={step}
                place={place}
                state={states?.[step.id]}
                selected={step.id === selected}
                focusable={step.id === stop}
                onSelect={onSelect && (() => onSelect(step.id === selected ? undefined : step.id))}
                onFocus={() => setFocused(step.id)}
              />
            );
          })}
        </div>
      </div>
      <div className={classes.tools}>
        <Tool label={t('workflow.zoomIn')} icon={IconPlus} run={() => zoom(ZOOM)} />
        <Tool label={t('workflow.zoomOut')} icon={IconMinus} run={() => zoom(1 / ZOOM)} />
        <Tool label={t('workflow.zoomFit')} icon={IconMaximize} run={() => showAll(0.15)} />
      </div>
    </div>
  );
}

function Tool({
  label,
  icon: Icon,
  run,
}: {
  label: string;
  icon: typeof IconPlus;
  run: () => void;
}) {
  return (
    <Tooltip label={label} position="left">
      <ActionIcon variant="default" aria-label={label} onClick={run}>
        <Icon size={14} />
      </ActionIcon>
    </Tooltip>
  );
}

function Edges({ layout, states }: { layout: Layout; states: WorkflowGraphProps['states'] }) {
  const id = useId();
  return (
    <svg
      className={classes.edges}
      width={layout.width}
      height={layout.height}
      aria-hidden="true"
      focusable="false"
    >
      <marker
        id={id}
        viewBox="0 0 8 8"
        refX="7"
        refY="4"
        markerWidth="7"
        markerHeight="7"
        orient="auto"
      >
        <path d="M1,1 L7,4 L1,7" className={classes.arrow} />
      </marker>
      {layout.edges.map((edge) => (
        <path
          key={`${edge.from}\n${edge.to}`}
          d={edge.path}
          className={classes.edge}
          data-undo={edge.undo || undefined}
          data-gone={states?.[edge.to] && states[edge.to]?.status !== 'pending' ? true : undefined}
          markerEnd={`url(#${id})`}
        />
      ))}
    </svg>
  );
}

/** Moves the view while the pointer is down; a click on a node stays a click. */
function drag(event: PointerEvent<HTMLDivElement>, move: (dx: number, dy: number) => void) {
  if (event.button !== 0 || (event.target as Element).closest('button')) return;
  const frame = event.currentTarget;
  let last = { x: event.clientX, y: event.clientY };
  frame.setPointerCapture(event.pointerId);
  const onMove = (next: globalThis.PointerEvent) => {
    move(next.clientX - last.x, next.clientY - last.y);
    last = { x: next.clientX, y: next.clientY };
  };
  const end = () => {
    frame.removeEventListener('pointermove', onMove);
    frame.removeEventListener('pointerup', end);
    frame.removeEventListener('pointercancel', end);
  };
  frame.addEventListener('pointermove', onMove);
  frame.addEventListener('pointerup', end);
  frame.addEventListener('pointercancel', end);
}
