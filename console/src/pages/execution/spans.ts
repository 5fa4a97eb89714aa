/** Attempts as spans of the time line. */
import type { Attempt } from '@/api/queries/executions';
import { t, word } from '@/i18n/t';
import { formatDuration } from '@/time/format';
import type { BarKind, Span } from '@/ui/timeline/layout';

export const attemptId = (attempt: Pick<Attempt, 'step_id' | 'attempt'>) =>
  `${attempt.step_id}#${attempt.attempt}`;

const KINDS: Record<Attempt['status'], BarKind> = {
  planned: 'planned',
  waiting: 'waiting',
  running: 'running',
  completed: 'completed',
  failed: 'failed',
  lost: 'failed',
  cancelled: 'cancelled',
};

const ms = (text: string | null) => (text === null ? undefined : Date.parse(text));

function labelOf(attempt: Attempt): string {
  const parts = [
    t('execution.attemptOf', { step: attempt.step_id, attempt: attempt.attempt }),
    word('status', attempt.status),
  ];
  if (attempt.duration_ms !== null) parts.push(formatDuration(attempt.duration_ms));
  if (attempt.error) parts.push(attempt.error.message);
  return parts.join(' · ');
}

/** The wait before an attempt: its backoff, or its time in the queue. */
function waitBefore(attempt: Attempt, began: number): Span[] {
  const from = Date.parse(attempt.scheduled_at);
  if (began <= from) return [];
  const backoff = attempt.backoff_ms !== null || attempt.attempt > 1;
  return [
    {
      id: `${attemptId(attempt)} wait`,
      row: attempt.step_id,
      kind: backoff ? 'backoff' : 'queued',
      from,
      to: began,
      label: backoff
        ? t('execution.backoff', { time: formatDuration(attempt.backoff_ms ?? began - from) })
        : t('execution.queued', { time: formatDuration(began - from) }),
      passive: true,
    },
  ];
}

export function spansOf(attempts: readonly Attempt[]): Span[] {
  return attempts.flatMap((attempt): Span[] => {
    const shared = { id: attemptId(attempt), row: attempt.step_id, label: labelOf(attempt) };
    if (attempt.started_at === null) {
      if (attempt.status !== 'planned' && attempt.status !== 'waiting') return [];
      const due = Date.parse(attempt.due_at ?? attempt.scheduled_at);
      return [...waitBefore(attempt, due), { ...shared, kind: 'planned', from: due }];
    }
    const began = Date.parse(attempt.started_at);
    return [
      ...waitBefore(attempt, began),
      { ...shared, kind: KINDS[attempt.status], from: began, to: ms(attempt.ended_at) },
    ];
  });
}
