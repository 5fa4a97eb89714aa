/** The columns of the executions list. */
import { Link } from '@tanstack/react-router';
import type { Execution } from '@/api/types';
import { t, word } from '@/i18n/t';
import { useNow } from '@/live/clock';
import { formatDuration } from '@/time/format';
import { CopyId } from '@/ui/copy/CopyId';
import { Status } from '@/ui/status/Status';
import { isFinal } from '@/ui/status/status';
import type { Column } from '@/ui/table/columns';
import { Countdown, Time } from '@/ui/time/Time';
import classes from './executions.module.css';

export function executionColumns(): Column<Execution>[] {
  return [
    {
      id: 'status',
      header: t('executions.status'),
      width: 142,
      required: true,
      cell: (row) =>
        row.parked ? (
          <span title={row.parked.host}>
            <Status value="parked" />
          </span>
        ) : (
          <Status value={row.status} />
        ),
    },
    {
      id: 'id',
      header: t('executions.id'),
      width: 148,
      required: true,
      cell: (row) => <CopyId id={row.execution_id} to={`/executions/${row.execution_id}`} plain />,
    },
    {
      id: 'workflow',
      header: t('executions.workflow'),
      width: 132,
      grow: 2,
      cell: (row) => (
        <>
          <Link
            to={'/workflows/$id' as string}
            params={{ id: row.workflow_id } as never}
            className={classes.name}
            tabIndex={-1}
          >
            {row.workflow_id}
          </Link>
          <span className={classes.muted}>
            {t('executions.v', { version: row.workflow_version })}
          </span>
        </>
      ),
    },
    {
      id: 'by',
      header: t('executions.startedBy'),
      width: 88,
      cell: (row) => (
        <span className={classes.muted}>{word('executions.by', row.trigger_type)}</span>
      ),
    },
    {
      id: 'created',
      header: t('executions.created'),
      width: 94,
      cell: (row) => <Time at={row.created_at} />,
    },
    {
      id: 'duration',
      header: t('executions.duration'),
      width: 72,
      align: 'end',
      cell: (row) => <Took row={row} />,
    },
    {
      id: 'retries',
      header: t('executions.retries'),
      width: 92,
      cell: (row) => <Retries row={row} />,
    },
    {
      id: 'error',
      header: t('executions.error'),
      width: 200,
      grow: 4,
      cell: (row) =>
        row.error && (
          <span className={classes.error} title={row.error.message}>
            {row.error.message}
          </span>
        ),
    },
    {
      id: 'key',
      header: t('executions.key'),
      width: 140,
      optional: true,
      cell: (row) => <code className={classes.name}>{row.idempotency_key}</code>,
    },
    {
      id: 'priority',
      header: t('executions.priority'),
      width: 72,
      align: 'end',
      optional: true,
      cell: (row) => row.priority,
    },
    {
      id: 'errorType',
      header: t('executions.errorType'),
      width: 140,
      optional: true,
      cell: (row) => row.error && <code>{row.error.type}</code>,
    },
    {
      id: 'completed',
      header: t('executions.completed'),
      width: 104,
      optional: true,
      cell: (row) => <Time at={row.completed_at} />,
    },
  ];
}

function Took({ row }: { row: Execution }) {
  if (row.duration_ms !== null && row.duration_ms !== undefined)
    return formatDuration(row.duration_ms);
  if (!row.started_at || isFinal(row.status)) return null;
  return <Since from={row.started_at} />;
}

function Since({ from }: { from: string }) {
  return <span className={classes.muted}>{formatDuration(useNow() - Date.parse(from))}</span>;
}

function Retries({ row }: { row: Execution }) {
  if (row.retry_count === 0 && !row.next_retry_at) return <span className={classes.muted}>–</span>;
  return (
    <span>
      {`${row.retry_count}/${row.max_retries}`}
      {row.status === 'retrying' && row.next_retry_at && (
        <span className={classes.next}>
          <Countdown to={row.next_retry_at} />
        </span>
      )}
    </span>
  );
}
