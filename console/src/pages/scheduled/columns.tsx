/** The columns of scheduled tasks. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { ScheduledTask } from '@/api/queries/scheduled';
import { formatNumber, t, word } from '@/i18n/t';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { Time } from '@/ui/time/Time';
import classes from './scheduled.module.css';
import { nameOf, STATE_TONE, scheduleWords, stateOf } from './words';

export function TaskStateBadge({ task, size }: { task: ScheduledTask; size?: 'sm' | 'md' }) {
  const state = stateOf(task);
  return (
    <Status
      value={state}
      tone={STATE_TONE[state]}
      label={word('scheduled.state', state)}
      size={size}
    />
  );
}

interface RowActions {
  run: (task: ScheduledTask) => void;
  toggle: (task: ScheduledTask) => void;
}

const typeOf = (task: ScheduledTask) =>
  String((task.taskConfig as { taskType?: unknown } | null)?.taskType ?? '–');

export function scheduledColumns({ run, toggle }: RowActions): Column<ScheduledTask>[] {
  return [
    {
      id: 'name',
      header: t('scheduled.col.name'),
      width: 170,
      grow: 2,
      required: true,
      cell: (row) => (
        <Link
          to="/scheduled/$id"
          params={{ id: row.taskId }}
          className={classes.cut}
          title={row.taskId}
          tabIndex={-1}
        >
          {nameOf(row)}
        </Link>
      ),
    },
    {
      id: 'state',
      header: t('scheduled.col.state'),
      width: 104,
      cell: (row) => <TaskStateBadge task={row} />,
    },
    {
      id: 'type',
      header: t('scheduled.col.type'),
      width: 96,
      cell: (row) => word('scheduled.type', typeOf(row)),
    },
    {
      id: 'schedule',
      header: t('scheduled.col.schedule'),
      width: 160,
      grow: 2,
      cell: (row) => (
        <span className={classes.cut} title={scheduleWords(row)}>
          {scheduleWords(row)}
        </span>
      ),
    },
    {
      id: 'cycles',
      header: t('scheduled.col.cycles'),
      width: 66,
      align: 'end',
      cell: (row) => formatNumber(row.cycles),
    },
    {
      id: 'last',
      header: t('scheduled.col.last'),
      width: 120,
      cell: (row) =>
        row.lastExecutionStatus ? (
          <Status value={row.lastExecutionStatus} />
        ) : (
          <span className={classes.muted}>–</span>
        ),
    },
    {
      id: 'next',
      header: t('scheduled.col.next'),
      width: 110,
      cell: (row) => <Time at={row.nextExecutionTime} />,
    },
    {
      id: 'created',
      header: t('scheduled.col.created'),
      width: 110,
      optional: true,
      cell: (row) => <Time at={row.createdAt} />,
    },
    {
      id: 'actions',
      header: t('scheduled.col.actions'),
      width: 160,
      required: true,
      cell: (row) => {
        const state = stateOf(row);
        return (
          <span className={classes.rowButtons}>
            {state !== 'cancelled' && (
              <Button size="compact-xs" variant="default" tabIndex={-1} onClick={() => run(row)}>
                {t('scheduled.run')}
              </Button>
            )}
            {(state === 'active' || state === 'paused') && (
              <Button
                size="compact-xs"
                variant="subtle"
                color="gray"
                tabIndex={-1}
                onClick={() => toggle(row)}
              >
                {t(state === 'active' ? 'scheduled.pause' : 'scheduled.resume')}
              </Button>
            )}
          </span>
        );
      },
    },
  ];
}
