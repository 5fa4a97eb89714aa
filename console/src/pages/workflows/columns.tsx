/** The columns of the list of workflows; numbers lead to the rows that they count. */
import { Link } from '@tanstack/react-router';
import { OPEN_STATUSES, type Workflow, type WorkflowStats } from '@/api/queries/workflows';
import { formatNumber, t } from '@/i18n/t';
import type { Column } from '@/ui/table/columns';
import { Time } from '@/ui/time/Time';
import classes from './workflows.module.css';

export function workflowColumns(): Column<Workflow>[] {
  return [...aboutColumns(), ...countColumns(), ...timeColumns()];
}

function aboutColumns(): Column<Workflow>[] {
  return [
    {
      id: 'workflow',
      header: t('workflows.workflow'),
      width: 200,
      grow: 3,
      required: true,
      cell: (row) => (
        <>
          <Link
            to="/workflows/$id"
            params={{ id: row.workflow_id }}
            className={classes.id}
            tabIndex={-1}
          >
            {row.workflow_id}
          </Link>
          {row.name !== row.workflow_id && (
            <span className={classes.name} title={row.description ?? row.name}>
              {row.name}
            </span>
          )}
        </>
      ),
    },
    {
      id: 'version',
      header: t('workflows.version'),
      width: 76,
      cell: (row) => (
        <span className={classes.muted}>{t('workflow.v', { version: row.version })}</span>
      ),
    },
    {
      id: 'steps',
      header: t('workflows.steps'),
      width: 64,
      align: 'end',
      cell: (row) => formatNumber(row.steps),
    },
  ];
}

function countColumns(): Column<Workflow>[] {
  return [
    {
      id: 'triggers',
      header: t('workflows.triggers'),
      width: 84,
      align: 'end',
      cell: (row) => (
        <Count
          stats={row.stats}
          of="triggers"
          to={`/workflows/${row.workflow_id}`}
          search={{ tab: 'triggers' }}
        />
      ),
    },
    {
      id: 'open',
      header: t('workflows.open'),
      width: 84,
      align: 'end',
      cell: (row) => (
        <Count
          stats={row.stats}
          of="open"
          to="/executions"
          search={{ workflow: row.workflow_id, status: OPEN_STATUSES }}
        />
      ),
    },
    {
      id: 'letters',
      header: t('workflows.letters'),
      width: 104,
      align: 'end',
      cell: (row) => (
        <Count
          stats={row.stats}
          of="dead_letters"
          to="/dlq"
          search={{ workflow: row.workflow_id }}
          bad
        />
      ),
    },
  ];
}

function timeColumns(): Column<Workflow>[] {
  return [
    {
      id: 'next',
      header: t('workflows.next'),
      width: 112,
      cell: (row) => <Time at={row.stats?.next_fire} />,
    },
    {
      id: 'updated',
      header: t('workflows.updated'),
      width: 112,
      cell: (row) => <Time at={row.updated_at} />,
    },
    {
      id: 'created',
      header: t('workflows.created'),
      width: 112,
      optional: true,
      cell: (row) => <Time at={row.created_at} />,
    },
  ];
}

/** Open executions are not counted further than this. */
const COUNTED_UP_TO = 1000;

interface CountProps {
  stats: WorkflowStats | undefined;
  of: 'triggers' | 'open' | 'dead_letters';
  to: string;
  search: Record<string, string>;
  bad?: boolean;
}

function Count({ stats, of, to, search, bad }: CountProps) {
  const count = stats?.[of];
  if (!count) return <span className={classes.muted}>{stats ? '0' : '–'}</span>;
  return (
    <Link to={to} search={search as never} tabIndex={-1} className={bad ? classes.bad : undefined}>
      {formatNumber(count) + (of === 'open' && count >= COUNTED_UP_TO ? '+' : '')}
    </Link>
  );
}
