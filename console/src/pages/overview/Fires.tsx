/** What starts next by itself. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { upcomingQuery } from '@/api/queries/overview';
import { t } from '@/i18n/t';
import { Panel } from '@/ui/page/Page';
import { EmptyState } from '@/ui/state/EmptyState';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Time } from '@/ui/time/Time';
import classes from './overview.module.css';

const SHOWN = 8;

export function Fires() {
  const query = useQuery(upcomingQuery(SHOWN));
  const { data } = query;
  if (data === null) return null;
  return (
    <Panel
      title={t('overview.fires')}
      actions={<Link to={'/triggers' as string}>{t('overview.all')}</Link>}
    >
      {query.isPending && <Skeleton rows={3} />}
      {query.isError && <ProblemView error={query.error} retry={() => query.refetch()} />}
      {data?.items.length === 0 && (
        <EmptyState title={t('overview.firesNone')} text={t('overview.firesNoneText')} />
      )}
      {data && data.items.length > 0 && (
        <ul className={classes.fires}>
          {data.items.map((fire) => (
            <li key={`${fire.trigger_id} ${fire.at}`}>
              <span className={classes.clock}>
                <Time at={fire.at} as="clock" />
              </span>
              <Link to={`/triggers/${fire.trigger_id}` as string} className={classes.cut}>
                {fire.workflow_id}
              </Link>
              <span className={classes.muted}>{fire.description}</span>
              <span className={classes.until}>
                <Time at={fire.at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
