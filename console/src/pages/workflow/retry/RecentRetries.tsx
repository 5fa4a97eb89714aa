/** The newest executions with their retries: how many of how many, how it ended, why, how long it took. */
import { SegmentedControl } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { recentExecutions, retriesOf } from '@/api/queries/workflows';
import { t, word } from '@/i18n/t';
import { useKept } from '@/settings/kept';
import { formatDuration } from '@/time/format';
import { CopyId } from '@/ui/copy/CopyId';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Status } from '@/ui/status/Status';
import { Countdown } from '@/ui/time/Time';
import classes from '../workflow.module.css';

const NEWEST = 15;

interface Row {
  id: string;
  count: number;
  max: number;
  status: string;
  code?: string | null;
  type?: string | null;
  message?: string | null;
  totalMs?: number | null;
  next?: string | null;
}

/** Only the retried ones, or all, among them those that needed no retry. */
function useRows(id: string, which: string) {
  const retried = useQuery({ ...retriesOf(id, NEWEST), enabled: which === 'retried' });
  const all = useQuery({ ...recentExecutions(id, NEWEST), enabled: which === 'all' });
  const rows: Row[] | undefined =
    which === 'retried'
      ? retried.data?.map((row) => ({
          id: row.execution_id,
          count: row.retry_count,
          max: row.max_retries,
          status: row.status,
          code: row.error_code,
          type: row.error_type,
          message: row.error_message,
          totalMs: row.total_ms,
          next: row.next_retry_at,
        }))
      : all.data?.map((row) => ({
          id: row.execution_id,
          count: row.retry_count,
          max: row.max_retries,
          status: row.status,
          code: row.error?.code,
          type: row.error?.type,
          message: row.error?.message,
          totalMs: row.duration_ms,
          next: row.next_retry_at,
        }));
  const { error, refetch, isPending } = which === 'retried' ? retried : all;
  return { rows, error, refetch, isPending };
}

export function RecentRetries({ id }: { id: string }) {
  const [which, setWhich] = useKept('retry.recent', 'retried');
  const { rows, error, refetch, isPending } = useRows(id, which);
  return (
    <Panel
      flush
      title={t('retry.recent')}
      actions={
        <>
          <SegmentedControl
            aria-label={t('retry.recent')}
            value={which}
            onChange={setWhich}
            data={[
              { value: 'retried', label: t('retry.onlyRetried') },
              { value: 'all', label: t('retry.all') },
            ]}
          />
          <Link to="/executions" search={{ workflow: id }}>
            {t('retry.fullLog')}
          </Link>
        </>
      }
    >
      {isPending && <Skeleton rows={4} />}
      {error && (
        <div className={classes.pad}>
          <ProblemView error={error} retry={refetch} />
        </div>
      )}
      {rows?.length === 0 && <p className={classes.nothing}>{t('retry.noneRecent')}</p>}
      {rows && rows.length > 0 && <RetryTable rows={rows} />}
    </Panel>
  );
}

function RetryTable({ rows }: { rows: Row[] }) {
  return (
    <div className={classes.scroll}>
      <table className={classes.table}>
        <thead>
          <tr>
            <th scope="col">{t('executions.id')}</th>
            <th scope="col">{t('retry.count')}</th>
            <th scope="col">{t('retry.final')}</th>
            <th scope="col">{t('retry.errorType')}</th>
            <th scope="col" className={classes.end}>
              {t('retry.took')}
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.id}>
              <td>
                <CopyId id={row.id} to={`/executions/${row.id}`} />
              </td>
              <td>
                {`${row.count}/${row.max}`}
                {row.status === 'retrying' && row.next && (
                  <small className={classes.muted}>
                    {' '}
                    {t('retry.next')} <Countdown to={row.next} />
                  </small>
                )}
              </td>
              <td>
                <Status value={row.status} />
              </td>
              <td className={classes.errorCell} title={row.message ?? undefined}>
                {row.type ? (
                  <>
                    <strong>{row.code ?? word('retry.error', row.type)}</strong> {row.message}
                  </>
                ) : (
                  <span className={classes.muted}>{t('retry.noError')}</span>
                )}
              </td>
              <td className={classes.end}>
                {row.totalMs == null ? '–' : formatDuration(row.totalMs)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
