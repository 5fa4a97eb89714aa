/** How the workflow is doing, in numbers that lead to what they count. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { executionCount } from '@/api/queries/executions';
import { OPEN_STATUSES, workflowStats } from '@/api/queries/workflows';
import { formatNumber, t } from '@/i18n/t';
import { Time } from '@/ui/time/Time';
import classes from './workflow.module.css';

const EVERY_MS = 15_000;

export function Numbers({ id }: { id: string }) {
  const { data: stats } = useQuery(workflowStats(id));
  const { data: day } = useQuery(executionCount({ workflow: id, from: '-24h' }, EVERY_MS));
  const ended =
    (day?.by_status.completed ?? 0) + (day?.by_status.failed ?? 0) + (day?.by_status.dlq ?? 0);
  return (
    <>
      {day && ended > 0 && (
        <Link to="/executions" search={{ workflow: id, from: '-24h' }}>
          {t('workflow.success', {
            share: formatNumber(
              Math.floor(((day.by_status.completed ?? 0) / ended) * 1000) / 10,
              1,
            ),
          })}
        </Link>
      )}
      {stats && stats.open > 0 && (
        <Link to="/executions" search={{ workflow: id, status: OPEN_STATUSES }}>
          {t('workflow.openCount', { count: stats.open })}
        </Link>
      )}
      {stats && stats.dead_letters > 0 && (
        <Link to="/dlq" search={{ workflow: id }} className={classes.bad}>
          {t('workflow.letterCount', { count: stats.dead_letters })}
        </Link>
      )}
      {stats?.next_fire && (
        <span>
          {t('workflow.nextFire')} <Time at={stats.next_fire} />
        </span>
      )}
    </>
  );
}
