/** One bulk job: how far it is, what became of each thing, and how to stop it. */
import { Progress, UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import {
  type BulkItem,
  type BulkJob,
  isOver,
  jobQuery,
  jobsKey,
  readItems,
} from '@/api/queries/bulk';
import { formatNumber, t, word } from '@/i18n/t';
import { useFollow } from '@/live/follow';
import { formatDuration } from '@/time/format';
import { CopyId } from '@/ui/copy/CopyId';
import { Json } from '@/ui/json/Json';
import { Facts, Page, Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Status } from '@/ui/status/Status';
import { toneOf } from '@/ui/status/status';
import type { Column } from '@/ui/table/columns';
import { DataTable } from '@/ui/table/DataTable';
import { Time } from '@/ui/time/Time';
import classes from './bulk.module.css';
import { JobActions } from './JobActions';
import { jobRoute } from './route';
import { kindOf, leftWords, scopeWords, shareOf, titleOf } from './words';

const OUTCOMES = ['ok', 'failed', 'skipped'] as const;
const EVERY_MS = 2_000;

export function JobPage() {
  const { id } = jobRoute.useParams();
  const job = useQuery(jobQuery(id));
  if (job.isPending) return <Skeleton />;
  if (!job.data) return <ProblemView error={job.error} retry={job.refetch} />;
  return (
    <Page
      title={titleOf(job.data)}
      badges={<Status value={job.data.state} size="md" />}
      actions={<JobActions job={job.data} />}
      subtitle={<CopyId id={id} />}
    >
      <Panel title={t('bulk.progress')}>
        <Far job={job.data} />
      </Panel>
      <Panel>
        <About job={job.data} />
      </Panel>
      <Panel title={t('bulk.items')} flush>
        <Items job={job.data} />
      </Panel>
    </Page>
  );
}

/** How far it is: a bar, the numbers by outcome, what is left. */
function Far({ job }: { job: BulkJob }) {
  const { outcome } = jobRoute.useSearch();
  const navigate = useNavigate();
  const show = (next: string) =>
    navigate({
      to: '/bulk/$id',
      params: { id: job.id },
      search: { outcome: next === outcome ? undefined : next },
      replace: true,
    });
  const share = shareOf(job);
  return (
    <div className={classes.far}>
      <Progress
        size="lg"
        value={share ?? 0}
        striped={job.state === 'running'}
        aria-label={t('bulk.progress')}
      />
      <div className={classes.numbers}>
        <strong>
          {job.total === null || job.total === undefined
            ? t('bulk.done', { done: formatNumber(job.done) })
            : t('bulk.doneOf', { done: formatNumber(job.done), total: formatNumber(job.total) })}
        </strong>
        {OUTCOMES.map((each) => (
          <UnstyledButton
            key={each}
            className={classes.count}
            data-tone={toneOf(each)}
            aria-pressed={each === outcome}
            onClick={() => show(each)}
          >
            <span className={classes.dot} aria-hidden="true" />
            {word('bulk.outcome', each)} {formatNumber(job[each])}
          </UnstyledButton>
        ))}
        <span className={classes.muted}>{leftWords(job)}</span>
      </div>
    </div>
  );
}

function About({ job }: { job: BulkJob }) {
  const facts: [string, ReactNode][] = [
    [t('bulk.scope'), scopeWords(job)],
    [t('bulk.rate'), formatNumber(job.rate)],
    [t('bulk.by'), job.created_by],
    [t('bulk.created'), <Time key="c" at={job.created_at} as="full" />],
  ];
  if (job.ended_at) {
    facts.push([t('bulk.ended'), <Time key="e" at={job.ended_at} as="full" />]);
    const took = Date.parse(job.ended_at) - Date.parse(job.created_at);
    facts.push([t('bulk.took'), formatDuration(took)]);
  }
  if (job.from)
    facts.push([t('dlq.from'), t(job.from === 'failed_step' ? 'dlq.fromStep' : 'dlq.fromStart')]);
  if (job.retries) facts.push([t('bulk.retriesFact'), t('bulk.retries')]);
  if (job.include_pending) facts.push([t('bulk.pendingFact'), t('bulk.pendingToo')]);
  if (job.compensate) facts.push([t('bulk.cancelFact'), t('bulk.compensate')]);
  return (
    <>
      <Facts facts={facts} />
      {job.transform && (
        <div className={classes.transform}>
          <h3>{t('bulk.transform')}</h3>
          <Json value={job.transform} label={t('bulk.transform')} file={`${job.id}-transform`} />
        </div>
      )}
    </>
  );
}

const rowKey = (item: BulkItem) => item.id;

function columns(path: string): Column<BulkItem>[] {
  return [
    {
      id: 'outcome',
      header: t('bulk.outcome'),
      width: 110,
      required: true,
      cell: (item) => <Status value={item.outcome} label={word('bulk.outcome', item.outcome)} />,
    },
    {
      id: 'thing',
      header: t('bulk.thing'),
      width: 180,
      required: true,
      cell: (item) => <CopyId id={item.id} to={`${path}/${item.id}`} plain />,
    },
    {
      id: 'execution',
      header: t('bulk.newExecution'),
      width: 180,
      cell: (item) =>
        item.execution_id && (
          <CopyId id={item.execution_id} to={`/executions/${item.execution_id}`} plain />
        ),
    },
    {
      id: 'detail',
      header: t('bulk.detail'),
      width: 240,
      grow: 3,
      cell: (item) => <span title={item.detail ?? ''}>{item.detail}</span>,
    },
    { id: 'at', header: t('bulk.at'), width: 110, cell: (item) => <Time at={item.at} /> },
  ];
}

function Items({ job }: { job: BulkJob }) {
  const { outcome } = jobRoute.useSearch();
  const navigate = useNavigate();
  const path = kindOf(job) === 'letters' ? '/dlq' : '/executions';
  const shown = useMemo(() => columns(path), [path]);
  const over = isOver(job);
  const queryKey = useMemo(
    () => [...jobsKey, 'items', job.id, outcome ?? '', over],
    [job.id, outcome, over],
  );
  const list = useFollow<BulkItem>({
    queryKey,
    page: (cursor, signal) => readItems(job.id, outcome, cursor, signal),
    rowKey,
    everyMs: EVERY_MS,
  });
  return (
    <div className={classes.items}>
      <DataTable
        id="bulk-items"
        label={t('bulk.items')}
        columns={shown}
        list={list}
        rowKey={rowKey}
        open={(item) => navigate({ to: `${path}/${item.id}` })}
        empty={{ title: t('bulk.noItems'), text: t('bulk.noItemsText') }}
        filtered={
          outcome
            ? {
                words: word('bulk.outcome', outcome),
                clear: () => navigate({ to: '/bulk/$id', params: { id: job.id }, search: {} }),
              }
            : undefined
        }
      />
    </div>
  );
}
