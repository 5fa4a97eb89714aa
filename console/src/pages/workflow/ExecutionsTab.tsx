/** The newest executions of this workflow; the list of executions has them all. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { recentExecutions } from '@/api/queries/workflows';
import type { Execution } from '@/api/types';
import { t, word } from '@/i18n/t';
import { formatDuration } from '@/time/format';
import { CopyId } from '@/ui/copy/CopyId';
import { Panel } from '@/ui/page/Page';
import { EmptyState } from '@/ui/state/EmptyState';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Status } from '@/ui/status/Status';
import { Time } from '@/ui/time/Time';
import type { TabProps } from './tab';
import classes from './workflow.module.css';

const NEWEST = 50;
const STATUSES = ['running', 'retrying', 'waiting', 'completed', 'failed', 'dlq', 'cancelled'];

export default function ExecutionsTab({ id }: TabProps) {
  const executions = useQuery(recentExecutions(id, NEWEST));
  return (
    <Panel
      flush
      title={t('workflow.newest', { count: NEWEST })}
      actions={
        <span className={classes.about}>
          {STATUSES.map((status) => (
            <Link key={status} to="/executions" search={{ workflow: id, status }}>
              {word('status', status)}
            </Link>
          ))}
          <Link to="/executions" search={{ workflow: id }}>
            {t('workflow.allExecutions')}
          </Link>
        </span>
      }
    >
      {executions.isPending && <Skeleton />}
      {executions.isError && (
        <div className={classes.pad}>
          <ProblemView error={executions.error} retry={executions.refetch} />
        </div>
      )}
      {executions.data?.length === 0 && (
        <EmptyState
          title={t('workflow.noExecutions')}
          text={t('workflow.noExecutionsText')}
          command={`refire execute ${id} --input '{}'`}
        />
      )}
      {executions.data && executions.data.length > 0 && (
        <ExecutionTable id={id} rows={executions.data} />
      )}
    </Panel>
  );
}

function ExecutionTable({ id, rows }: { id: string; rows: Execution[] }) {
  return (
    <div className={classes.scroll}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t('workflow.state')}</th>
            <th scope="col">{t('executions.id')}</th>
            <th scope="col">{t('workflow.version')}</th>
            <th scope="col">{t('executions.startedBy')}</th>
            <th scope="col">{t('executions.created')}</th>
            <th scope="col" className={classes.end}>
              {t('executions.duration')}
            </th>
            <th scope="col" className={classes.end}>
              {t('executions.retries')}
            </th>
            <th scope="col">{t('executions.error')}</th>
            <th scope="col">
              <span className="hidden-text">{t('workflow.onGraph')}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.execution_id}>
              <td>
                <Status value={row.status} />
              </td>
              <td>
                <CopyId id={row.execution_id} to={`/executions/${row.execution_id}`} />
              </td>
              <td>{t('workflow.v', { version: row.workflow_version })}</td>
              <td>{word('executions.by', row.trigger_type)}</td>
              <td>
                <Time at={row.created_at} />
              </td>
              <td className={classes.end}>
                {row.duration_ms == null ? '–' : formatDuration(row.duration_ms)}
              </td>
              <td className={classes.end}>{`${row.retry_count}/${row.max_retries}`}</td>
              <td className={classes.errorCell} title={row.error?.message}>
                {row.error?.message}
              </td>
              <td className={classes.end}>
                <Link
                  to="/workflows/$id"
                  params={{ id }}
                  search={{ tab: 'graph', execution: row.execution_id }}
                >
                  {t('workflow.onGraph')}
                </Link>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
