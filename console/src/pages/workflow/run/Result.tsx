/** The execution that was started: followed until it ends, with its output or error. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { executionOf, type Ran } from '@/api/queries/workflows';
import { t } from '@/i18n/t';
import { formatDuration } from '@/time/format';
import { CopyId } from '@/ui/copy/CopyId';
import { Json } from '@/ui/json/Json';
import { Panel } from '@/ui/page/Page';
import { Status } from '@/ui/status/Status';
import { isFinal } from '@/ui/status/status';
import { Countdown, Time } from '@/ui/time/Time';
import classes from '../workflow.module.css';

const FOLLOW_MS = 1_000;

export function Result({ ran }: { ran: Ran }) {
  const { data } = useQuery({
    ...executionOf(ran.execution_id),
    refetchInterval: (query) =>
      query.state.data && isFinal(query.state.data.status) ? false : FOLLOW_MS,
  });
  const shown = data ?? ran;
  return (
    <Panel
      title={t('workflow.result')}
      actions={
        <Link
          to="/workflows/$id"
          params={{ id: data?.workflow_id ?? ran.workflow_id ?? '' }}
          search={{ tab: 'graph', execution: ran.execution_id }}
        >
          {t('workflow.onGraph')}
        </Link>
      }
    >
      <div className={classes.stack} role="status">
        <div className={classes.about}>
          <Status value={shown.status} size="md" />
          <CopyId id={ran.execution_id} to={`/executions/${ran.execution_id}`} />
          {data?.duration_ms != null && <span>{formatDuration(data.duration_ms)}</span>}
          {data && data.retry_count > 0 && (
            <span>{t('workflow.retried', { n: data.retry_count, max: data.max_retries })}</span>
          )}
          {data?.status === 'retrying' && data.next_retry_at && (
            <Countdown to={data.next_retry_at} />
          )}
        </div>
        {ran.duplicate && <div className={classes.notice}>{t('workflow.duplicate')}</div>}
        {data?.delay_until && !isFinal(data.status) && (
          <div>
            {t('workflow.begins')} <Time at={data.delay_until} as="full" />
          </div>
        )}
        {data?.error && (
          <div className={classes.error}>
            <code>{data.error.code ?? data.error.type}</code> {data.error.message}
          </div>
        )}
        {data?.dlq_entry_id && (
          <Link to={'/dlq/$id' as string} params={{ id: data.dlq_entry_id } as never}>
            {t('workflow.deadLetter')}
          </Link>
        )}
        {data?.status === 'completed' && (
          <Json
            value={data.output}
            label={t('workflow.output')}
            file={ran.execution_id}
            maxHeight={320}
          />
        )}
      </div>
    </Panel>
  );
}
