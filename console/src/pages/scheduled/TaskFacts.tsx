/** What a task is, in pairs. */
import type { ReactNode } from 'react';
import type { ScheduledTask } from '@/api/queries/scheduled';
import { t, word } from '@/i18n/t';
import { CopyId } from '@/ui/copy/CopyId';
import { Facts } from '@/ui/page/Page';
import { Time } from '@/ui/time/Time';
import classes from './scheduled.module.css';
import { scheduleWords } from './words';

type Plain = Record<string, unknown>;
const plain = (value: unknown): Plain =>
  typeof value === 'object' && value !== null ? (value as Plain) : {};

export function TaskFacts({ task }: { task: ScheduledTask }) {
  const config = plain(task.taskConfig);
  const schedule = plain(task.scheduleConfig);
  const target = plain(config.targetConfig);
  const payload = plain(config.taskPayload);
  const seconds =
    target.triggerTimeoutSeconds ?? plain(config.executorConfig).triggerTimeoutSeconds;
  const zone = schedule.timezone ? String(schedule.timezone) : 'UTC';
  const address = target.url ?? payload.apiEndpoint;
  const facts: [string, ReactNode][] = [
    [t('scheduled.fact.id'), <CopyId key="id" id={task.taskId} />],
    [t('scheduled.fact.schedule'), scheduleWords(task)],
    [
      t('scheduled.fact.next'),
      <span key="n">
        <Time at={task.nextExecutionTime} as="full" zone={zone} />{' '}
        {task.nextExecutionTime && (
          <span className={classes.muted}>
            <Time at={task.nextExecutionTime} zone={zone} />
          </span>
        )}
      </span>,
    ],
    [t('scheduled.fact.zone'), zone],
    [t('scheduled.fact.type'), word('scheduled.type', String(config.taskType))],
    [
      t('scheduled.fact.target'),
      <code key="t" className={classes.address}>
        {[target.method ?? (target.url ? 'POST' : ''), address ?? target.triggerType ?? '–']
          .filter(Boolean)
          .map(String)
          .join(' ')}
      </code>,
    ],
    [t('scheduled.fact.timeout'), t('scheduled.seconds', { seconds: String(seconds ?? 30) })],
    [t('scheduled.fact.retry'), retryWords(config.retryConfig)],
    [t('scheduled.fact.callback'), callbackWords(config.callbackWindow)],
    [t('scheduled.fact.created'), <Time key="c" at={task.createdAt} as="full" />],
    [t('scheduled.fact.version'), task.version],
  ];
  if (task.startTime || task.endTime)
    facts.push([
      t('scheduled.fact.window'),
      <span key="w">
        <Time at={task.startTime} as="full" /> – <Time at={task.endTime} as="full" />
      </span>,
    ]);
  if (schedule.description)
    facts.push([t('scheduled.fact.description'), String(schedule.description)]);
  return <Facts facts={facts} />;
}

function retryWords(given: unknown): string {
  if (typeof given !== 'object' || given === null) return t('scheduled.noRetry');
  const retry = given as Plain;
  const words = t('scheduled.retryWords', {
    count: Number(retry.maxRetries ?? 3),
    minutes: Number(retry.retryIntervalMinutes ?? 5),
  });
  return retry.retryOnTimeout ? t('scheduled.retryTimeout', { words }) : words;
}

function callbackWords(window: unknown): string {
  if (window === 0 || window === '0') return t('scheduled.callbackNone');
  return t('scheduled.callbackWindow', { window: String(window ?? '24h') });
}
