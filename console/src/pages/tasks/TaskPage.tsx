/** One external task: its clocks, input, output, and what a person may do in place of its worker. */
import { Button, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';
import { type ExternalTask, taskQuery } from '@/api/queries/tasks';
import { usePageActions } from '@/app/palette/actions';
import { rich, t } from '@/i18n/t';
import { CopyId, shortId } from '@/ui/copy/CopyId';
import { Json } from '@/ui/json/Json';
import { Facts, Page, Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Status } from '@/ui/status/Status';
import { Time } from '@/ui/time/Time';
import { LockClock, ProgressBar } from './Clocks';
import { CompleteDialog, FailDialog } from './ReportDialogs';
import { taskRoute } from './route';
import classes from './tasks.module.css';
import { UnlockDialog } from './UnlockDialog';

type Asking = 'unlock' | 'complete' | 'fail';

export function TaskPage() {
  const { id } = taskRoute.useParams();
  const query = useQuery(taskQuery(id));
  const task = query.data;
  const [asking, setAsking] = useState<Asking>();
  const close = () => setAsking(undefined);
  const finished = task && !/^(PENDING|LOCKED)$/.test(task.status);

  return (
    <Page
      title={task?.taskType ?? shortId(id)}
      badges={task && <Status value={task.status} size="md" />}
      actions={task && !finished && <Actions task={task} ask={setAsking} />}
    >
      {query.isError && <ProblemView error={query.error} retry={() => query.refetch()} />}
      {query.isPending && <Skeleton rows={10} />}
      {task && (
        <>
          <Panel>
            <TaskFacts task={task} />
          </Panel>
          {task.errorMessage && (
            <Panel title={t('tasks.error')}>
              <pre className={classes.pre}>{task.errorMessage}</pre>
            </Panel>
          )}
          <div className={classes.columns}>
            <Panel title={t('tasks.input')}>
              <Json value={task.input ?? null} label={t('tasks.input')} file={`${task.id}-input`} />
            </Panel>
            <Panel title={t('tasks.output')}>
              {task.status === 'COMPLETED' ? (
                <Json
                  value={task.output ?? null}
                  label={t('tasks.output')}
                  file={`${task.id}-output`}
                />
              ) : (
                <p className={classes.muted}>{t('tasks.noOutput')}</p>
              )}
            </Panel>
          </div>
          {asking === 'unlock' && <UnlockDialog task={task} close={close} />}
          {asking === 'complete' && <CompleteDialog task={task} close={close} />}
          {asking === 'fail' && <FailDialog task={task} close={close} />}
        </>
      )}
    </Page>
  );
}

function Actions({ task, ask }: { task: ExternalTask; ask: (what: Asking) => void }) {
  const locked = task.status === 'LOCKED';
  usePageActions(
    locked
      ? [
          { label: t('tasks.unlockMore'), run: () => ask('unlock') },
          { label: t('tasks.complete'), run: () => ask('complete') },
          { label: t('tasks.fail'), run: () => ask('fail') },
        ]
      : [],
  );
  const button = (what: Asking, label: string, color?: string) => (
    <Tooltip label={t('tasks.onlyLocked')} disabled={locked}>
      <Button
        variant="default"
        color={color}
        data-disabled={!locked || undefined}
        aria-disabled={!locked}
        onClick={() => locked && ask(what)}
      >
        {label}
      </Button>
    </Tooltip>
  );
  return (
    <>
      {button('unlock', t('tasks.unlockMore'))}
      {button('complete', t('tasks.complete'))}
      {button('fail', t('tasks.fail'))}
    </>
  );
}

function TaskFacts({ task }: { task: ExternalTask }) {
  const facts: [string, ReactNode][] = [
    [
      t('tasks.fact.execution'),
      <CopyId key="e" id={task.executionId} to={`/executions/${task.executionId}`} />,
    ],
    [
      t('tasks.fact.workflow'),
      <Link key="w" to={`/workflows/${encodeURIComponent(task.workflowId)}` as string}>
        {task.workflowId}
      </Link>,
    ],
    [t('tasks.fact.step'), <code key="s">{task.stepId}</code>],
    [
      t('tasks.fact.worker'),
      task.workerId ? (
        <Link key="k" to="/workers" search={{ q: task.workerId }}>
          {task.workerId}
        </Link>
      ) : (
        '–'
      ),
    ],
    [t('tasks.col.lock'), <LockClock key="l" task={task} />],
    [t('tasks.fact.locked'), <Time key="la" at={task.lockedAt} as="full" />],
    [t('tasks.fact.lockEnds'), <Time key="le" at={task.lockExpiresAt} as="full" />],
    [t('tasks.fact.lockLength'), t('tasks.seconds', { seconds: task.lockDurationSeconds })],
    [t('tasks.fact.heartbeat'), <Heartbeat key="h" task={task} />],
    [
      t('tasks.fact.progress'),
      task.progress === null || task.progress === undefined ? (
        (task.progressMessage ?? '–')
      ) : (
        <span key="p" className={classes.progressFact}>
          <ProgressBar percent={task.progress} message={task.progressMessage} />
          {task.progressMessage}
        </span>
      ),
    ],
    [
      t('tasks.fact.attempts'),
      t('tasks.attemptsOf', { failed: task.retryCount, all: task.maxRetries }),
    ],
    [t('tasks.fact.priority'), task.priority],
    [t('tasks.fact.created'), <Time key="c" at={task.createdAt} as="full" />],
    [t('tasks.fact.available'), <Time key="a" at={task.availableAt} as="full" />],
    [t('tasks.fact.timeout'), <Time key="t" at={task.timeoutAt} as="full" />],
    [t('tasks.fact.completed'), <Time key="d" at={task.completedAt} as="full" />],
  ];
  return <Facts facts={facts} />;
}

function Heartbeat({ task }: { task: ExternalTask }) {
  if (!task.heartbeatIntervalSeconds) return t('tasks.noHeartbeat');
  return (
    <span>
      {t('tasks.heartbeatEvery', {
        seconds: task.heartbeatIntervalSeconds,
        missed: task.heartbeatMaxMissed ?? 0,
      })}
      {task.lastHeartbeatAt && (
        <> · {rich('tasks.heartbeatLast', { time: <Time at={task.lastHeartbeatAt} /> })}</>
      )}
    </span>
  );
}
