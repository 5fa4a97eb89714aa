/** The columns of external tasks. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ExternalTask } from '@/api/queries/tasks';
import { t } from '@/i18n/t';
import { CopyId } from '@/ui/copy/CopyId';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { Time } from '@/ui/time/Time';
import { HeartbeatAge, LockClock, ProgressBar } from './Clocks';
import classes from './tasks.module.css';

export function taskColumns(unlock: (task: ExternalTask) => void): Column<ExternalTask>[] {
  return [
    {
      id: 'task',
      header: t('tasks.col.task'),
      width: 132,
      required: true,
      cell: (row) => <CopyId id={row.id} to={`/tasks/${row.id}`} plain />,
    },
    {
      id: 'status',
      header: t('tasks.col.status'),
      width: 100,
      cell: (row) => <Status value={row.status} />,
    },
    {
      id: 'type',
      header: t('tasks.col.type'),
      width: 140,
      grow: 2,
      cell: (row) => (
        <span className={classes.cut} title={row.taskType}>
          {row.taskType}
        </span>
      ),
    },
    {
      id: 'worker',
      header: t('tasks.col.worker'),
      width: 110,
      grow: 1,
      cell: (row) =>
        row.workerId ? (
          <Link
            to="/workers"
            search={{ q: row.workerId }}
            className={classes.cut}
            title={row.workerId}
            tabIndex={-1}
          >
            {row.workerId}
          </Link>
        ) : null,
    },
    {
      id: 'lock',
      header: t('tasks.col.lock'),
      width: 108,
      cell: (row) => <LockClock task={row} />,
    },
    {
      id: 'heartbeat',
      header: t('tasks.col.heartbeat'),
      width: 78,
      cell: (row) => <HeartbeatAge task={row} />,
    },
    {
      id: 'progress',
      header: t('tasks.col.progress'),
      width: 104,
      cell: (row) => <ProgressBar percent={row.progress} message={row.progressMessage} />,
    },
    {
      id: 'attempts',
      header: t('tasks.col.attempts'),
      width: 60,
      align: 'end',
      cell: (row) => (
        <span>
          {row.retryCount}/{row.maxRetries}
        </span>
      ),
    },
    {
      id: 'note',
      header: t('tasks.col.note'),
      width: 110,
      grow: 2,
      cell: (row) => (
        <span
          className={row.errorMessage ? classes.error : classes.cut}
          title={row.errorMessage ?? row.progressMessage ?? undefined}
        >
          {row.errorMessage ?? row.progressMessage}
        </span>
      ),
    },
    {
      id: 'created',
      optional: true,
      header: t('tasks.col.created'),
      width: 96,
      cell: (row) => <Time at={row.createdAt} />,
    },
    {
      id: 'workflow',
      header: t('tasks.col.workflow'),
      width: 130,
      optional: true,
      cell: (row) => <span className={classes.cut}>{row.workflowId}</span>,
    },
    {
      id: 'step',
      header: t('tasks.col.step'),
      width: 110,
      optional: true,
      cell: (row) => <span className={classes.cut}>{row.stepId}</span>,
    },
    {
      id: 'execution',
      header: t('tasks.col.execution'),
      width: 160,
      optional: true,
      cell: (row) => <CopyId id={row.executionId} to={`/executions/${row.executionId}`} plain />,
    },
    {
      id: 'priority',
      header: t('tasks.col.priority'),
      width: 72,
      align: 'end',
      optional: true,
      cell: (row) => row.priority,
    },
    {
      id: 'actions',
      header: t('tasks.col.actions'),
      width: 80,
      required: true,
      cell: (row) =>
        row.status === 'LOCKED' && (
          <Button size="compact-xs" variant="default" tabIndex={-1} onClick={() => unlock(row)}>
            {t('tasks.unlock')}
          </Button>
        ),
    },
  ];
}
