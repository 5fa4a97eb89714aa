/** Dead letters by workflow and error: how many, and their share. */
import type { UseQueryResult } from '@tanstack/react-query';
import type { Schema } from '@/api/types';
import { formatNumber, rich, t } from '@/i18n/t';
import { Panel } from '@/ui/page/Page';
import { EmptyState } from '@/ui/state/EmptyState';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Time } from '@/ui/time/Time';
import classes from './dlq.module.css';

interface GroupsProps {
  summary: UseQueryResult<Schema<'DeadLetterSummary'>>;
  show: (group: { workflow: string; error_type: string; q?: string }) => void;
}

export function Groups({ summary, show }: GroupsProps) {
  if (summary.isPending) return <Skeleton rows={6} />;
  if (summary.isError) return <ProblemView error={summary.error} retry={() => summary.refetch()} />;
  const { count, oldest, newest, groups } = summary.data;
  const most = groups[0]?.count ?? 1;
  return (
    <Panel
      title={
        <span className={classes.totals}>
          {t('dlq.total', { count })}
          {oldest && <small>{rich('dlq.oldest', { time: <Time at={oldest} /> })}</small>}
          {newest && <small>{rich('dlq.newest', { time: <Time at={newest} /> })}</small>}
        </span>
      }
      flush
    >
      {groups.length === 0 ? (
        <EmptyState title={t('dlq.group.empty')} text={t('dlq.emptyText')} />
      ) : (
        <div className={classes.tableWrap}>
          <table className={classes.groups}>
            <thead>
              <tr>
                <th className={classes.number}>{t('dlq.group.count')}</th>
                <th className={classes.share}>{t('dlq.group.share')}</th>
                <th>{t('dlq.col.workflow')}</th>
                <th>{t('dlq.col.error')}</th>
              </tr>
            </thead>
            <tbody>
              {groups.map((group) => (
                <tr key={`${group.workflow_id} ${group.error_type} ${group.error_code}`}>
                  <td className={classes.number}>
                    <button
                      type="button"
                      className={classes.linkButton}
                      onClick={() =>
                        show({
                          workflow: group.workflow_id,
                          error_type: group.error_type,
                          q: group.error_code ?? undefined,
                        })
                      }
                    >
                      {formatNumber(group.count)}
                    </button>
                  </td>
                  <td className={classes.share}>
                    <span className={classes.shareBar} aria-hidden="true">
                      <span style={{ width: `${(group.count / most) * 100}%` }} />
                    </span>
                    {formatNumber(Math.round((group.count / Math.max(1, count)) * 100))} %
                  </td>
                  <td className={classes.cut}>{group.workflow_id}</td>
                  <td>
                    <code>{[group.error_type, group.error_code].filter(Boolean).join(' ')}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
