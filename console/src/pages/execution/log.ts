/** What the log says: the state after any event. */
import type { Log } from '@/api/queries/log';
import type { Event } from '@/api/types';

type Payload = Record<string, unknown>;
const payloadOf = (event: Event) => (event.payload ?? {}) as Payload;

const isObject = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export interface StepState {
  status: string;
  attempts: number;
  output?: unknown;
  error?: string;
}

export interface StateAfter {
  status: string;
  input: unknown;
  /** The input's fields and what `outputMapping` added or replaced. */
  context: Record<string, unknown>;
  output?: unknown;
  steps: Record<string, StepState>;
}

const STEP_STATUS: Record<string, string> = {
  STEP_SCHEDULED: 'pending',
  STEP_STARTED: 'running',
  STEP_COMPLETED: 'completed',
  STEP_FAILED: 'failed',
  STEP_LOST: 'failed',
  STEP_SKIPPED: 'skipped',
  RETRY_SCHEDULED: 'retrying',
  TIMER_FIRED: 'running',
  EXTERNAL_TASK_CREATED: 'waiting',
  EXTERNAL_TASK_LOCKED: 'running',
  EXTERNAL_TASK_RELEASED: 'waiting',
  CALLBACK_RECEIVED: 'waiting',
  COMPENSATION_STARTED: 'running',
  COMPENSATION_COMPLETED: 'completed',
  COMPENSATION_FAILED: 'failed',
};

const EXECUTION_STATUS: Record<string, string> = {
  EXECUTION_STARTED: 'pending',
  STEP_STARTED: 'running',
  RETRY_SCHEDULED: 'retrying',
  TIMER_FIRED: 'running',
  EXTERNAL_TASK_CREATED: 'waiting',
  EXECUTION_PAUSED: 'paused',
  EXECUTION_RESUMED: 'running',
  DEAD_LETTERED: 'dlq',
  EXECUTION_COMPLETED: 'completed',
  EXECUTION_CANCELLED: 'cancelled',
};

function applyToStep(step: StepState, event: Event): StepState {
  const payload = payloadOf(event);
  const next = { ...step, status: STEP_STATUS[event.event_type] ?? step.status };
  if (event.attempt_number) next.attempts = Math.max(next.attempts, event.attempt_number);
  if (event.event_type === 'STEP_COMPLETED') next.output = payload.output;
  if (event.failure_reason) next.error = event.failure_reason;
  else if (event.event_type === 'STEP_COMPLETED') delete next.error;
  return next;
}

/** The state once the first `count` events had happened. */
export function stateAfter({ events, named }: Log, count: number): StateAfter {
  const state: StateAfter = { status: 'pending', input: undefined, context: {}, steps: {} };
  for (const event of events.slice(0, count)) {
    const payload = payloadOf(event);
    if (event.event_type === 'EXECUTION_STARTED') {
      state.input = payload.input;
      if (isObject(payload.input)) Object.assign(state.context, payload.input);
    }
    Object.assign(state.context, named[event.sequence]);
    if (event.event_type === 'EXECUTION_COMPLETED') state.output = payload.output;
    const status = EXECUTION_STATUS[event.event_type];
    if (status) state.status = status;
    if (event.event_type === 'EXECUTION_FAILED' && state.status !== 'dlq') state.status = 'failed';
    if (event.step_id && event.event_type !== 'DEAD_LETTERED')
      state.steps[event.step_id] = applyToStep(
        state.steps[event.step_id] ?? { status: 'pending', attempts: 0 },
        event,
      );
  }
  return state;
}
