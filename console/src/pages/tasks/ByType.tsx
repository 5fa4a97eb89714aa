/** What waits, by type: how many, since when, and whether anybody asks for it. */
import { Link } from '@tanstack/react-router';
import type { TaskTypeSummary } from '@/api/queries/tasks';
import { formatNumber, t } from '@/i18n/t';
import { Panel } from '@/ui/page/Page';
import { Time } from '@/ui/time/Time';
import classes from './tasks.module.css';

export function ByType({ items, chosen }: { items: TaskTypeSummary[]; chosen?: string }) {
  return (
    <Panel flush>
      <div className={classes.wrap}>
        <table className={classes.types} aria-label={t('tasks.byType')}>
          <thead>
            <tr>
              <th>{t('tasks.type')}</th>
              <th className={classes.number}>{t('tasks.pending')}</th>
              <th className={classes.number}>{t('tasks.locked')}</th>
              <th>{t('tasks.oldest')}</th>
              <th className={classes.number}>{t('tasks.workers')}</th>
            </tr>
          </thead>
          <tbody>
            {items.map((item) => (
              <tr key={item.taskType} data-chosen={item.taskType === chosen || undefined}>
                <td>
                  <Link to="/tasks" search={{ type: item.taskType }}>
                    {item.taskType}
                  </Link>
                </td>
                <td className={classes.number}>
                  <Link to="/tasks" search={{ type: item.taskType, status: 'pending' }}>
                    {formatNumber(item.pending)}
                  </Link>
                </td>
                <td className={classes.number}>
                  <Link to="/tasks" search={{ type: item.taskType, status: 'locked' }}>
                    {formatNumber(item.locked)}
                  </Link>
                </td>
                <td>
                  <Time at={item.oldestPendingAt} />
                </td>
                <td className={classes.number}>
                  {item.workers === 0 && item.pending > 0 ? (
                    <span className={classes.alarm}>{t('tasks.noWorker')}</span>
                  ) : (
                    formatNumber(item.workers)
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
