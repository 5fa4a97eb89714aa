import { describe, expect, it } from 'vitest';
import type { Attempt } from '@/api/queries/executions';
import { spansOf } from './spans';

const attempt = (more: Partial<Attempt>): Attempt => ({
  step_id: 'a',
  attempt: 1,
  status: 'failed',
  compensation: false,
  scheduled_at: '2026-11-18T09:30:00.000Z',
  due_at: null,
  started_at: '2026-11-18T09:30:00.010Z',
  ended_at: '2026-11-18T09:30:00.110Z',
  duration_ms: 100,
  backoff_ms: null,
  retryable: null,
  early: false,
  error: null,
  response: null,
  node_id: null,
  worker_id: null,
  task_id: null,
  ...more,
});

describe('spans of attempts', () => {
  it('have the wait before each, and end where it ended', () => {
    const spans = spansOf([attempt({})]);
    expect(spans.map((span) => [span.kind, span.to! - span.from])).toEqual([
      ['queued', 10],
      ['failed', 100],
    ]);
  });

  it('show a retry that waits as backoff and a point at its time', () => {
    const spans = spansOf([
      attempt({
        attempt: 2,
        status: 'waiting',
        due_at: '2026-11-18T09:30:02.000Z',
        started_at: null,
        ended_at: null,
        duration_ms: null,
        backoff_ms: 2000,
      }),
    ]);
    expect(spans.map((span) => span.kind)).toEqual(['backoff', 'planned']);
    expect(spans[1]?.id).toBe('a#2');
    expect(spans[1]?.to).toBeUndefined();
  });

  it('leave what runs open, and show a lost attempt as failed', () => {
    const [, running] = spansOf([attempt({ status: 'running', ended_at: null })]);
    expect(running).toMatchObject({ kind: 'running', to: undefined });
    expect(spansOf([attempt({ status: 'lost' })])[1]?.kind).toBe('failed');
  });
});
