/** The columns of dead letters. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Letter } from '@/api/queries/dlq';
import { t, word } from '@/i18n/t';
import { CopyId, shortId } from '@/ui/copy/CopyId';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { Time } from '@/ui/time/Time';
import classes from './dlq.module.css';

export interface RowActions {
  retry: (letter: Letter) => void;
  remove: (letter: Letter) => void;
}

/** `http_status 503`, as one word where the class has no code. */
export const errorName = (letter: Pick<Letter, 'error_type' | 'error_code'>) =>
  letter.error_code ? `${letter.error_type} ${letter.error_code}` : letter.error_type;

/** The workflow of a scheduled task has a number for a name: people know it by its other one. */
const nameOfWorkflow = (row: Letter) =>
  row.workflow_id.startsWith('task-') && row.workflow_name ? row.workflow_name : row.workflow_id;

export const workflowPath = (id: string): string => `/workflows/${encodeURIComponent(id)}`;

export function letterColumns(actions: RowActions): Column<Letter>[] {
  return [
    {
      id: 'execution',
      header: t('dlq.col.execution'),
      width: 178,
      required: true,
      cell: (row) => <CopyId id={row.execution_id} to={`/executions/${row.execution_id}`} plain />,
    },
    {
      id: 'status',
      header: t('dlq.col.status'),
      width: 104,
      cell: (row) => <Status value={row.status} />,
    },
    {
      id: 'workflow',
      header: t('dlq.col.workflow'),
      width: 150,
      grow: 1,
      cell: (row) => (
        <Link
          to={workflowPath(row.workflow_id)}
          title={row.workflow_name}
          className={classes.cut}
          tabIndex={-1}
        >
          {nameOfWorkflow(row)}
        </Link>
      ),
    },
    {
      id: 'failed',
      header: t('dlq.col.failedAt'),
      width: 104,
      cell: (row) => <Time at={row.failed_at} />,
    },
    {
      id: 'retries',
      header: t('dlq.col.retries'),
      width: 68,
      align: 'end',
      cell: (row) => (
        <span>
          {row.retry_count}/{row.max_retries}
        </span>
      ),
    },
    {
      id: 'error',
      header: t('dlq.col.error'),
      width: 260,
      grow: 3,
      cell: (row) => (
        <span className={classes.error} title={row.error_message}>
          <code>{errorName(row)}</code> {row.error_message}
        </span>
      ),
    },
    {
      id: 'step',
      header: t('dlq.col.step'),
      width: 120,
      optional: true,
      cell: (row) => <span className={classes.cut}>{row.step_id ?? '–'}</span>,
    },
    {
      id: 'reason',
      header: t('dlq.col.reason'),
      width: 140,
      optional: true,
      cell: (row) => word('dlq.reason', row.reason),
    },
    {
      id: 'letter',
      header: t('dlq.col.letter'),
      width: 170,
      optional: true,
      cell: (row) => <code title={row.id}>{shortId(row.id)}</code>,
    },
    {
      id: 'actions',
      header: t('dlq.col.actions'),
      width: 148,
      required: true,
      cell: (row) => row.status === 'pending' && <RowButtons row={row} {...actions} />,
    },
  ];
}

function RowButtons({ row, retry, remove }: { row: Letter } & RowActions) {
  return (
    <span className={classes.rowButtons}>
      <Button
        size="compact-xs"
        variant="default"
        tabIndex={-1}
        disabled={row.workflow_deleted}
        onClick={() => retry(row)}
      >
        {t('dlq.retry')}
      </Button>
      <Button
        size="compact-xs"
        variant="subtle"
        color="danger"
        tabIndex={-1}
        onClick={() => remove(row)}
      >
        {t('dlq.delete')}
      </Button>
    </span>
  );
}
