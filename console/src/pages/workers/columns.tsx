/** The columns of workers. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Worker } from '@/api/queries/workers';
import { formatNumber, t } from '@/i18n/t';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { Time } from '@/ui/time/Time';
import classes from './workers.module.css';

export function workerColumns(release: (worker: Worker) => void): Column<Worker>[] {
  return [
    {
      id: 'worker',
      header: t('workers.col.worker'),
      width: 160,
      grow: 2,
      required: true,
      cell: (row) => (
        <code className={classes.cut} title={row.workerId}>
          {row.workerId}
        </code>
      ),
    },
    {
      id: 'status',
      header: t('workers.col.status'),
      width: 84,
      cell: (row) => <Status value={row.status} />,
    },
    {
      id: 'type',
      header: t('workers.col.type'),
      width: 76,
      cell: (row) => <span className={classes.cut}>{row.workerType ?? '–'}</span>,
    },
    {
      id: 'types',
      header: t('workers.col.types'),
      width: 150,
      grow: 2,
      cell: (row) => (
        <span className={classes.cut} title={row.taskTypes.join(', ')}>
          {row.taskTypes.join(', ')}
        </span>
      ),
    },
    {
      id: 'held',
      header: t('workers.col.held'),
      width: 56,
      align: 'end',
      cell: (row) => (
        <Link to="/tasks" search={{ worker: row.workerId, status: 'locked' }} tabIndex={-1}>
          {formatNumber(row.held)}
        </Link>
      ),
    },
    {
      id: 'completed',
      header: t('workers.col.completed'),
      width: 64,
      align: 'end',
      cell: (row) => (
        <Link to="/tasks" search={{ worker: row.workerId, status: 'completed' }} tabIndex={-1}>
          {formatNumber(row.tasksCompleted)}
        </Link>
      ),
    },
    {
      id: 'failed',
      header: t('workers.col.failed'),
      width: 60,
      align: 'end',
      cell: (row) => formatNumber(row.tasksFailed),
    },
    {
      id: 'poll',
      header: t('workers.col.poll'),
      width: 92,
      cell: (row) => <Time at={row.lastPollAt} />,
    },
    {
      id: 'heartbeat',
      header: t('workers.col.heartbeat'),
      width: 108,
      cell: (row) => <Time at={row.lastHeartbeatAt} />,
    },
    {
      id: 'since',
      header: t('workers.col.since'),
      width: 110,
      optional: true,
      cell: (row) => <Time at={row.createdAt} />,
    },
    {
      id: 'actions',
      header: t('workers.col.actions'),
      width: 84,
      required: true,
      cell: (row) => (
        <Button size="compact-xs" variant="default" tabIndex={-1} onClick={() => release(row)}>
          {t('workers.release')}
        </Button>
      ),
    },
  ];
}
