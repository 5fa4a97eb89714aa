/** A step in the graph: icon, name, target, retries, and how it went. */
import type { Ref } from 'react';
import { t, word } from '@/i18n/t';
import { formatDuration } from '@/time/format';
import { IconArrowBackUp, IconHourglass, IconRotate } from '../icons';
import { TONE_ICON, toneOf } from '../status/status';
import classes from './graph.module.css';
import type { Placed } from './layout';
import { StepIcon } from './StepIcon';
import type { GraphStep } from './steps';
import type { StepState } from './WorkflowGraph';

interface GraphNodeProps {
  ref?: Ref<HTMLButtonElement>;
  step: GraphStep;
  place: Placed;
  state?: StepState;
  selected: boolean;
  focusable: boolean;
  onSelect?: () => void;
  onFocus: () => void;
}

/** What the node shows by its place, its lines and its colours, in words. */
function unseenWords(step: GraphStep, state?: StepState): string {
  return [
    step.retries !== undefined && !state && t('workflow.retriesName'),
    word('workflow.type', step.type),
    step.undoes && t('workflow.undoes', { step: step.undoes }),
    step.needs.length > 0 && t('workflow.after', { steps: step.needs.join(', ') }),
    step.conditional && t('workflow.conditional'),
    state && word('status', state.status),
  ]
    .filter(Boolean)
    .join(', ');
}

export function GraphNode(props: GraphNodeProps) {
  const { step, place, state } = props;
  const tone = state && toneOf(state.status);
  const StateIcon = tone && TONE_ICON[tone];
  return (
    <button
      ref={props.ref}
      type="button"
      className={classes.node}
      data-undo={step.undoes !== undefined || undefined}
      data-conditional={step.conditional || undefined}
      data-tone={tone}
      data-selected={props.selected || undefined}
      aria-pressed={props.onSelect ? props.selected : undefined}
      title={`${step.id}\n${step.target}`}
      tabIndex={props.focusable ? 0 : -1}
      style={{ left: place.x, top: place.y, width: place.width, height: place.height }}
      onClick={props.onSelect}
      onFocus={props.onFocus}
    >
      <span className={classes.icon}>
        {step.undoes ? (
          <IconArrowBackUp size={16} aria-hidden="true" />
        ) : (
          <StepIcon type={step.type} />
        )}
      </span>
      <span className={classes.words}>
        <span className={classes.name}>{step.id}</span>
        <span className={classes.target}>{step.target}</span>
      </span>
      <span className={classes.marks}>
        {StateIcon ? (
          <StateIcon size={16} aria-hidden="true" data-spin={tone === 'running' || undefined} />
        ) : (
          <Retries step={step} />
        )}
        {state ? (
          <Took state={state} />
        ) : (
          step.callback && <IconHourglass size={12} aria-hidden="true" />
        )}
      </span>
      <span className="hidden-text">{unseenWords(step, state)}</span>
    </button>
  );
}

function Retries({ step }: { step: GraphStep }) {
  if (step.retries === undefined) return null;
  return (
    <span className={classes.retries} data-none={step.retries === 0 || undefined}>
      <IconRotate size={11} aria-hidden="true" />
      {step.retries}
    </span>
  );
}

function Took({ state }: { state: StepState }) {
  const parts = [
    state.retries ? `×${state.retries + 1}` : '',
    state.durationMs === undefined || state.durationMs === null
      ? ''
      : formatDuration(state.durationMs),
  ].filter(Boolean);
  return <span className={classes.took}>{parts.join(' ')}</span>;
}
