/** The bulk jobs: what goes on, and what was done. */
import { Progress } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type BulkJob, jobsKey, readJobs } from '@/api/queries/bulk';
import { formatNumber, t, word } from '@/i18n/t';
import { useFollow } from '@/live/follow';
import { FilterBar } from '@/ui/filter/FilterBar';
import {
  checkFilter,
  type FilterField,
  type FilterValue,
  filterWords,
  isFiltered,
} from '@/ui/filter/filter';
import { Page } from '@/ui/page/Page';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { DataTable } from '@/ui/table/DataTable';
import { Time } from '@/ui/time/Time';
import classes from './bulk.module.css';
import { jobsRoute } from './route';
import { scopeWords, shareOf, titleOf } from './words';

const rowKey = (job: BulkJob) => job.id;
const EVERY_MS = 2_000;

const jobFields = (): FilterField[] => [
  {
    key: 'state',
    kind: 'choice',
    several: true,
    label: t('bulk.state'),
    options: (['running', 'paused', 'completed', 'cancelled'] as const).map((value) => ({
      value,
      label: word('status', value),
    })),
  },
];

const columns = (): Column<BulkJob>[] => [
  {
    id: 'state',
    header: t('bulk.state'),
    width: 110,
    required: true,
    cell: (job) => <Status value={job.state} />,
  },
  { id: 'what', header: t('bulk.what'), width: 180, required: true, cell: titleOf },
  {
    id: 'scope',
    header: t('bulk.scope'),
    width: 220,
    grow: 3,
    cell: (job) => (
      <span className={classes.cut} title={scopeWords(job)}>
        {scopeWords(job)}
      </span>
    ),
  },
  {
    id: 'progress',
    header: t('bulk.progress'),
    width: 150,
    cell: (job) => (
      <span className={classes.progress}>
        <Progress
          className={classes.bar}
          value={shareOf(job) ?? 0}
          aria-label={t('bulk.progress')}
        />
        {formatNumber(job.done)}
        {job.total !== null && job.total !== undefined && ` / ${formatNumber(job.total)}`}
      </span>
    ),
  },
  {
    id: 'failed',
    header: t('bulk.failed'),
    width: 70,
    align: 'end',
    cell: (job) => formatNumber(job.failed),
  },
  {
    id: 'skipped',
    header: t('bulk.skipped'),
    width: 76,
    align: 'end',
    cell: (job) => formatNumber(job.skipped),
  },
  { id: 'by', header: t('bulk.by'), width: 100, cell: (job) => job.created_by },
  {
    id: 'created',
    header: t('bulk.created'),
    width: 110,
    cell: (job) => <Time at={job.created_at} />,
  },
];

export function Jobs() {
  const search = jobsRoute.useSearch();
  const navigate = useNavigate();
  const fields = useMemo(jobFields, []);
  const shown = useMemo(columns, []);
  const { value, wrong } = useMemo(() => checkFilter({ ...search }, fields), [search, fields]);
  const queryKey = useMemo(() => [...jobsKey, 'list', value], [value]);
  const list = useFollow<BulkJob>({
    queryKey,
    page: (cursor, signal) => readJobs(value.state, cursor, signal),
    rowKey,
    everyMs: EVERY_MS,
  });
  const go = (next: FilterValue) =>
    navigate({ to: '/bulk', search: next as Record<string, string> });
  return (
    <Page title={t('bulk.title')} fill>
      <FilterBar fields={fields} value={value} wrong={wrong} onChange={go} noRange />
      <DataTable
        id="bulk"
        label={t('bulk.title')}
        columns={shown}
        list={list}
        rowKey={rowKey}
        open={(job) => navigate({ to: '/bulk/$id', params: { id: job.id } })}
        empty={{
          title: t('bulk.empty'),
          text: t('bulk.emptyText'),
          command: 'refire dlq retry --all --workflow <workflow>',
        }}
        filtered={
          isFiltered(value, fields)
            ? { words: filterWords(value, fields), clear: () => go({}) }
            : undefined
        }
      />
    </Page>
  );
}
