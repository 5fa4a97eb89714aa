/** What the log says: attempts, and the state after any event. */
import type { Attempt } from '@/api/queries/executions';
import type { ErrorInfo, Event } from '@/api/types';

type Payload = Record<string, unknown>;
const payloadOf = (event: Event) => (event.payload ?? {}) as Payload;

export interface StepState {
  status: string;
  attempts: number;
  output?: unknown;
  error?: string;
}

export interface StateAfter {
  status: string;
  input: unknown;
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
export function stateAfter(events: readonly Event[], count: number): StateAfter {
  const state: StateAfter = { status: 'pending', input: undefined, steps: {} };
  for (const event of events.slice(0, count)) {
    const payload = payloadOf(event);
    if (event.event_type === 'EXECUTION_STARTED') state.input = payload.input;
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

/** The attempts of a log, for a server that does not list them itself. */
export function attemptsOf(events: readonly Event[]): Attempt[] {
  const attempts = new Map<string, Attempt>();
  const find = (event: Event): Attempt | undefined => {
    if (!event.step_id || !event.attempt_number) return undefined;
    const key = `${event.step_id}#${event.attempt_number}`;
    let attempt = attempts.get(key);
    if (!attempt) {
      attempt = {
        step_id: event.step_id,
        attempt: event.attempt_number,
        status: 'planned',
        compensation: false,
        scheduled_at: null,
        due_at: null,
        started_at: null,
        ended_at: null,
        duration_ms: null,
        backoff_ms: null,
        retryable: null,
        early: null,
        error: null,
        response: null,
        node_id: null,
        worker_id: null,
        task_id: null,
      };
      attempts.set(key, attempt);
    }
    return attempt;
  };
  for (const event of events) {
    const attempt = find(event);
    if (attempt) applyToAttempt(attempt, event);
  }
  return [...attempts.values()];
}

function applyToAttempt(attempt: Attempt, event: Event) {
  const payload = payloadOf(event);
  switch (event.event_type) {
    case 'COMPENSATION_STARTED':
      attempt.compensation = true;
      attempt.scheduled_at = event.timestamp;
      break;
    case 'STEP_SCHEDULED':
      attempt.scheduled_at = event.timestamp;
      break;
    case 'RETRY_SCHEDULED':
      attempt.scheduled_at = event.timestamp;
      attempt.due_at = String(payload.due_at);
      attempt.backoff_ms = event.backoff_delay_ms ?? null;
      break;
    case 'STEP_STARTED':
      attempt.status = 'running';
      attempt.started_at = String(payload.started_at ?? event.timestamp);
      break;
    case 'STEP_COMPLETED':
      attempt.status = 'completed';
      attempt.response = payload.output;
      end(attempt, event);
      break;
    case 'STEP_FAILED': {
      attempt.status = 'failed';
      const error = payload.error as (ErrorInfo & { response?: unknown }) | undefined;
      attempt.error = error ?? null;
      attempt.response = error?.response ?? null;
      attempt.retryable = error?.retryable ?? null;
      end(attempt, event);
      break;
    }
    case 'STEP_LOST':
      attempt.status = 'lost';
      end(attempt, event);
      break;
  }
}

function end(attempt: Attempt, event: Event) {
  attempt.ended_at = event.timestamp;
  if (attempt.started_at)
    attempt.duration_ms = Date.parse(event.timestamp) - Date.parse(attempt.started_at);
}
