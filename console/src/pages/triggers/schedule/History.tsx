/** The last fifty executions with their results. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { cronHistory, type Trigger } from '@/api/queries/triggers';
import { t } from '@/i18n/t';
import { formatDuration } from '@/time/format';
import { CopyId } from '@/ui/copy/CopyId';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Status } from '@/ui/status/Status';
import classes from '../form/form.module.css';
import { localText } from '../slots';

const LAST = 50;

export function History({ trigger }: { trigger: Trigger }) {
  const { data, error, refetch } = useQuery(cronHistory(trigger.workflow_id, trigger.id, LAST));
  return (
    <Panel
      flush
      title={t('trigger.history', { count: LAST })}
      actions={
        <Button
          variant="default"
          size="compact-sm"
          renderRoot={(props) => (
            <Link to="/triggers/$id/slots" params={{ id: trigger.id }} {...props} />
          )}
        >
          {t('trigger.fullHistory')}
        </Button>
      }
    >
      {error && <ProblemView error={error} retry={refetch} />}
      {!data && !error && <Skeleton rows={5} />}
      {data?.length === 0 && <div className={classes.empty}>{t('trigger.historyEmpty')}</div>}
      {data && data.length > 0 && (
        <div
          className={classes.tableScroll}
          tabIndex={0}
          role="region"
          aria-label={t('trigger.history', { count: LAST })}
        >
          <table className={classes.table}>
            <thead>
              <tr>
                <th>{t('trigger.time')}</th>
                <th>{t('trigger.status')}</th>
                <th className={classes.end}>{t('trigger.duration')}</th>
                <th>{t('trigger.result')}</th>
                <th>{t('trigger.execution')}</th>
              </tr>
            </thead>
            <tbody>
              {data.map((run) => (
                <tr key={run.execution_id}>
                  <td>{localText(run.scheduled_at)}</td>
                  <td>
                    <Status value={run.status} />
                  </td>
                  <td className={classes.end}>
                    {run.duration_ms === null || run.duration_ms === undefined
                      ? '–'
                      : formatDuration(run.duration_ms)}
                  </td>
                  <td className={classes.wide} title={run.result ?? undefined}>
                    {run.result}
                  </td>
                  <td>
                    <CopyId id={run.execution_id} to={`/executions/${run.execution_id}`} />
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
