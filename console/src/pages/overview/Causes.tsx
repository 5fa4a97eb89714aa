/** Dead letters that wait, by workflow and error, most first. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { letterSummary } from '@/api/queries/dlq';
import { formatNumber, t } from '@/i18n/t';
import { Panel } from '@/ui/page/Page';
import { EmptyState } from '@/ui/state/EmptyState';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import classes from './overview.module.css';

const SHOWN = 6;

export function Causes() {
  const query = useQuery(letterSummary({ status: 'pending' }));
  const { data } = query;
  return (
    <Panel
      title={t('overview.recent')}
      actions={
        <Link to="/dlq" search={{ from: 'all' }}>
          {t('overview.all')}
        </Link>
      }
    >
      {query.isPending && <Skeleton rows={3} />}
      {query.isError && <ProblemView error={query.error} retry={() => query.refetch()} />}
      {data?.count === 0 && (
        <EmptyState title={t('overview.recentNone')} text={t('overview.recentNoneText')} />
      )}
      {data && data.count > 0 && (
        <ul className={classes.causes}>
          {data.groups.slice(0, SHOWN).map((group) => (
            <li key={`${group.workflow_id} ${group.error_type} ${group.error_code}`}>
              <Link
                to="/dlq"
                search={{
                  workflow: group.workflow_id,
                  error_type: group.error_type,
                  q: group.error_code ?? undefined,
                  status: 'pending',
                  from: 'all',
                }}
                className={classes.causeCount}
              >
                {formatNumber(group.count)}
              </Link>
              <span className={classes.cut}>{group.workflow_id}</span>
              <code className={classes.muted}>
                {[group.error_type, group.error_code].filter(Boolean).join(' ')}
              </code>
            </li>
          ))}
          {data.groups.length > SHOWN && (
            <li className={classes.muted}>
              {t('overview.more', { count: formatNumber(data.groups.length - SHOWN) })}
            </li>
          )}
        </ul>
      )}
    </Panel>
  );
}
