/** The attempts of a task, newest first: the call, what became of it, progress; a row opens in place. */
import { useMemo } from 'react';
import {
  type RecordFilter,
  readRecords,
  scheduledKey,
  type TaskRecord,
} from '@/api/queries/scheduled';
import { t, word } from '@/i18n/t';
import { useFollow } from '@/live/follow';
import { FilterBar } from '@/ui/filter/FilterBar';
import { checkFilter, type FilterField, filterWords, isFiltered } from '@/ui/filter/filter';
import { DataTable } from '@/ui/table/DataTable';
import { RecordDetail } from './RecordDetail';
import { recordColumns } from './recordColumns';
import classes from './scheduled.module.css';

const rowKey = (record: TaskRecord) => record.id;
const STATUSES = ['pending', 'processing', 'success', 'failed', 'timeout', 'trigger_failed'];

function recordFields(): FilterField[] {
  return [
    {
      key: 'cycle',
      kind: 'text',
      label: t('scheduled.rec.filterCycle'),
      valid: (value) => /^\d{1,9}$/.test(value),
    },
    {
      key: 'status',
      kind: 'choice',
      several: true,
      label: t('scheduled.rec.filterStatus'),
      options: STATUSES.map((value) => ({ value, label: word('status', value) })),
    },
    {
      key: 'retry',
      kind: 'choice',
      label: t('scheduled.rec.filterRetry'),
      options: [
        { value: 'true', label: t('scheduled.yes') },
        { value: 'false', label: t('scheduled.no') },
      ],
    },
  ];
}

interface RecordsProps {
  id: string;
  search: Record<string, string | undefined>;
  go: (search: Record<string, string | undefined>) => void;
}

export function Records({ id, search, go }: RecordsProps) {
  const fields = useMemo(recordFields, []);
  const text = JSON.stringify([search.cycle, search.status, search.retry]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text says everything of the filter
  const { value, wrong } = useMemo(() => checkFilter(search, fields), [text, fields]);
  const filter = value as RecordFilter;
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const queryKey = useMemo(() => [...scheduledKey, 'records', id, filter], [id, text]);
  const list = useFollow<TaskRecord>({
    queryKey,
    page: (cursor, signal) => readRecords(id, filter, cursor, signal),
    rowKey,
    everyMs: 2_000,
  });
  const columns = useMemo(recordColumns, []);
  const { cycle, status, retry } = value;
  return (
    <div className={classes.records}>
      <FilterBar
        fields={fields}
        value={value}
        wrong={wrong}
        onChange={({ q, ...next }) => go(q && /^\d+$/.test(q) ? { ...next, cycle: q } : next)}
        noRange
        placeholder={t('scheduled.rec.search')}
      />
      <DataTable
        id="records"
        label={t('scheduled.recordsLabel')}
        columns={columns}
        list={list}
        rowKey={rowKey}
        expanded={search.open}
        onExpand={(open) => go({ cycle, status, retry, open })}
        detail={(record) => <RecordDetail record={record} />}
        empty={{ title: t('scheduled.rec.empty'), text: t('scheduled.rec.emptyText') }}
        filtered={
          isFiltered(value, fields)
            ? { words: filterWords(value, fields), clear: () => go({}) }
            : undefined
        }
      />
    </div>
  );
}
