/** The sentence under the title (what it waits for, why it failed), and the facts. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Execution } from '@/api/types';
import { rich, t, word } from '@/i18n/t';
import { useNow } from '@/live/clock';
import { formatDuration } from '@/time/format';
import { CopyId } from '@/ui/copy/CopyId';
import { Facts } from '@/ui/page/Page';
import { isFinal } from '@/ui/status/status';
import { Countdown, Time } from '@/ui/time/Time';
import classes from './execution.module.css';

export function Headline({ execution }: { execution: Execution }) {
  const { status, error, next_retry_at: next } = execution;
  return (
    <div className={classes.headline}>
      {status === 'retrying' && next && (
        <span className={classes.next}>
          {rich('execution.nextRetry', {
            time: <Countdown to={next} />,
            attempt: execution.retry_count + 1,
            of: execution.max_retries + 1,
          })}
        </span>
      )}
      {execution.parked && (
        <Link className={classes.next} to="/targets" search={{ open: execution.parked.host }}>
          {execution.parked.until
            ? rich('execution.parked', {
                host: execution.parked.host,
                time: <Time at={execution.parked.until} as="clock" />,
              })
            : t('execution.parkedByHand', { host: execution.parked.host })}
        </Link>
      )}
      {execution.delay_until && status === 'pending' && (
        <span>{rich('execution.delayed', { time: <Time at={execution.delay_until} /> })}</span>
      )}
      {error && (
        <span className={classes.error}>
          <code>{[error.type, error.code].filter(Boolean).join(' ')}</code> {error.message}
        </span>
      )}
      {execution.dlq_entry_id && (
        <Link to={`/dlq/${execution.dlq_entry_id}` as string}>{t('execution.toLetter')}</Link>
      )}
    </div>
  );
}

function Took({ execution }: { execution: Execution }) {
  const { duration_ms: took, started_at: began } = execution;
  if (took !== null && took !== undefined) return formatDuration(took);
  return began && !isFinal(execution.status) ? <Since from={began} /> : '–';
}

function Since({ from }: { from: string }) {
  return <>{formatDuration(useNow() - Date.parse(from))}</>;
}

export function About({ execution }: { execution: Execution }) {
  const facts: [string, ReactNode][] = [
    [t('execution.id'), <CopyId key="id" id={execution.execution_id} />],
    [
      t('execution.workflow'),
      <Link key="w" to={`/workflows/${execution.workflow_id}` as string}>
        {execution.workflow_id} {t('executions.v', { version: execution.workflow_version })}
      </Link>,
    ],
    [t('execution.startedBy'), <StartedBy key="by" execution={execution} />],
    [t('execution.created'), <Time key="c" at={execution.created_at} as="full" />],
    [t('execution.took'), <Took key="took" execution={execution} />],
    [
      t('execution.retries'),
      t('execution.retriesOf', { done: execution.retry_count, most: execution.max_retries }),
    ],
    [t('execution.priority'), execution.priority],
  ];
  if (execution.idempotency_key)
    facts.push([t('execution.key'), <CopyId key="key" id={execution.idempotency_key} full />]);
  if (execution.trace_id)
    facts.push([t('execution.trace'), <CopyId key="trace" id={execution.trace_id} />]);
  if (execution.parent_dlq_entry_id)
    facts.push([
      t('execution.retryOf'),
      <CopyId
        key="parent"
        id={execution.parent_dlq_entry_id}
        to={`/dlq/${execution.parent_dlq_entry_id}`}
      />,
    ]);
  return <Facts facts={facts} />;
}

function StartedBy({ execution }: { execution: Execution }) {
  const kind = word('executions.by', execution.trigger_type);
  if (execution.trigger_id)
    return (
      <span className={classes.by}>
        {kind} <CopyId id={execution.trigger_id} to={`/triggers/${execution.trigger_id}`} plain />
      </span>
    );
  return <>{[kind, execution.triggered_by].filter(Boolean).join(' · ')}</>;
}
