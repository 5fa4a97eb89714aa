/** The columns of attempts. */
import type { TaskRecord } from '@/api/queries/scheduled';
import { t } from '@/i18n/t';
import { formatDuration } from '@/time/format';
import { CopyId } from '@/ui/copy/CopyId';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { Time } from '@/ui/time/Time';
import { executionOf, tookMs } from './cycles';
import classes from './scheduled.module.css';

export function recordColumns(): Column<TaskRecord>[] {
  return [
    {
      id: 'cycle',
      header: t('scheduled.rec.cycle'),
      width: 110,
      required: true,
      cell: (row) => (
        <span className={classes.cycleCell}>
          {row.cycleNumber ?? '–'}
          {row.isRetry && <span className={classes.retryMark}>{t('scheduled.rec.retry')}</span>}
        </span>
      ),
    },
    {
      id: 'started',
      header: t('scheduled.rec.started'),
      width: 150,
      cell: (row) => <Time at={row.executionStartedAt} as="full" />,
    },
    {
      id: 'trigger',
      header: t('scheduled.rec.trigger'),
      width: 110,
      cell: (row) => (
        <Status
          value={row.triggerStatus ?? 'running'}
          label={row.triggerStatus ? undefined : t('scheduled.rec.underWay')}
        />
      ),
    },
    {
      id: 'status',
      header: t('scheduled.rec.status'),
      width: 120,
      cell: (row) => <Status value={row.executionStatus} />,
    },
    {
      id: 'progress',
      header: t('scheduled.rec.progress'),
      width: 110,
      cell: (row) => <Progress percent={row.progress} />,
    },
    {
      id: 'said',
      header: t('scheduled.rec.said'),
      width: 160,
      grow: 2,
      cell: (row) => (
        <span className={classes.cut} title={row.progressMessage ?? undefined}>
          {row.progressMessage}
        </span>
      ),
    },
    {
      id: 'took',
      header: t('scheduled.rec.took'),
      width: 80,
      align: 'end',
      cell: (row) => {
        const ms = tookMs(row);
        return ms === undefined ? '–' : formatDuration(ms);
      },
    },
    {
      id: 'execution',
      header: t('scheduled.rec.execution'),
      width: 160,
      cell: (row) => <CopyId id={executionOf(row)} to={`/executions/${executionOf(row)}`} plain />,
    },
  ];
}

function Progress({ percent }: { percent?: number | null }) {
  if (percent === null || percent === undefined) return <span className={classes.muted}>–</span>;
  const value = Math.min(100, Math.max(0, Number(percent)));
  return (
    <span className={classes.progress}>
      <span
        className={classes.track}
        role="progressbar"
        aria-valuenow={value}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-label={t('scheduled.rec.progress')}
      >
        <span style={{ width: `${value}%` }} />
      </span>
      {value} %
    </span>
  );
}
