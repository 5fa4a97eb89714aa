import { describe, expect, it } from 'vitest';
import type { Event } from '@/api/types';
import { filterEvents } from './events';
import { stateAfter } from './log';

let sequence = 0;
const event = (event_type: string, more: Partial<Event> = {}): Event => ({
  sequence: ++sequence,
  event_type,
  timestamp: `2026-11-18T09:30:${String(sequence).padStart(2, '0')}Z`,
  payload: {},
  ...more,
});

const LOG: Event[] = [
  event('EXECUTION_STARTED', { payload: { input: { n: 1 } } }),
  event('STEP_SCHEDULED', { step_id: 'a', attempt_number: 1 }),
  event('STEP_FAILED', { step_id: 'a', attempt_number: 1, failure_reason: '503 from crm' }),
  event('RETRY_SCHEDULED', { step_id: 'a', attempt_number: 2, backoff_delay_ms: 2000 }),
  event('STEP_COMPLETED', { step_id: 'a', attempt_number: 2, payload: { output: 'done' } }),
  event('EXECUTION_COMPLETED', { payload: { output: 'done' } }),
];

/** What the step's mapping made of its output. */
const NAMED = { 5: { n: 2, tickets: [] } };

describe('the state after an event', () => {
  it('is what the log said up to there', () => {
    expect(stateAfter({ events: LOG, named: NAMED }, 1)).toEqual({
      status: 'pending',
      input: { n: 1 },
      context: { n: 1 },
      steps: {},
    });
    expect(stateAfter({ events: LOG, named: NAMED }, 4)).toMatchObject({
      status: 'retrying',
      steps: { a: { status: 'retrying', attempts: 2, error: '503 from crm' } },
    });
    expect(stateAfter({ events: LOG, named: NAMED }, 4).context).toEqual({ n: 1 });
    const end = stateAfter({ events: LOG, named: NAMED }, 6);
    expect(end).toMatchObject({ status: 'completed', output: 'done' });
    expect(end.context).toEqual({ n: 2, tickets: [] });
    expect(end.steps.a).toEqual({ status: 'completed', attempts: 2, output: 'done' });
  });
});

describe('filtered events', () => {
  it('match type, step, attempt and text together', () => {
    expect(filterEvents(LOG, { text: 'CRM' })).toHaveLength(1);
    expect(filterEvents(LOG, { step: 'a', attempt: '2', text: '' })).toHaveLength(2);
    expect(filterEvents(LOG, { type: 'STEP_FAILED', attempt: '2', text: '' })).toHaveLength(0);
  });
});
