/** The list of scheduled tasks. */
import { Button } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  readScheduled,
  type ScheduledFilter,
  type ScheduledTask,
  scheduledKey,
} from '@/api/queries/scheduled';
import { t, word } from '@/i18n/t';
import { useFollow } from '@/live/follow';
import { FilterBar } from '@/ui/filter/FilterBar';
import {
  checkFilter,
  type FilterField,
  type FilterValue,
  filterWords,
  isFiltered,
} from '@/ui/filter/filter';
import { IconPlus } from '@/ui/icons';
import { Page } from '@/ui/page/Page';
import { DataTable } from '@/ui/table/DataTable';
import { type Asking, TaskDialogs, usePausing } from './actions';
import { scheduledColumns } from './columns';
import { SCHEDULE_TYPES, TASK_TYPES } from './draft';
import { scheduledListRoute } from './route';

const rowKey = (task: ScheduledTask) => task.taskId;

function scheduledFields(): FilterField[] {
  const yesNo = [
    { value: 'true', label: t('scheduled.yes') },
    { value: 'false', label: t('scheduled.no') },
  ];
  return [
    {
      key: 'type',
      kind: 'choice',
      label: t('scheduled.filter.type'),
      options: TASK_TYPES.map((value) => ({ value, label: word('scheduled.type', value) })),
    },
    {
      key: 'schedule',
      kind: 'choice',
      label: t('scheduled.filter.schedule'),
      options: SCHEDULE_TYPES.map((value) => ({ value, label: word('scheduled.schedule', value) })),
    },
    { key: 'active', kind: 'choice', label: t('scheduled.filter.active'), options: yesNo },
    { key: 'finished', kind: 'choice', label: t('scheduled.filter.finished'), options: yesNo },
  ];
}

export function ScheduledList() {
  const search = scheduledListRoute.useSearch();
  const navigate = useNavigate();
  const [asking, setAsking] = useState<{ what: Asking; task: ScheduledTask }>();
  const fields = useMemo(scheduledFields, []);
  const text = JSON.stringify(search);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text says everything of the search
  const { value, wrong } = useMemo(() => checkFilter(search, fields), [text, fields]);
  const filter = value as ScheduledFilter;
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const queryKey = useMemo(() => [...scheduledKey, 'list', filter], [text]);
  const list = useFollow<ScheduledTask>({
    queryKey,
    page: (cursor, signal) => readScheduled(filter, cursor, signal),
    rowKey,
  });
  const toggle = usePausing();
  const columns = useMemo(
    () => scheduledColumns({ run: (task) => setAsking({ what: 'run', task }), toggle }),
    [toggle],
  );
  const go = (next: FilterValue) =>
    navigate({ to: '/scheduled', search: next as Record<string, string> });
  const filtered = isFiltered(value, fields);

  return (
    <Page
      title={t('scheduled.title')}
      fill
      actions={
        <Button component={Link} to="/scheduled/new" leftSection={<IconPlus size={14} />}>
          {t('scheduled.new')}
        </Button>
      }
    >
      <FilterBar
        fields={fields}
        value={value}
        wrong={wrong}
        onChange={go}
        noRange
        placeholder={t('scheduled.filter.search')}
      />
      <DataTable
        id="scheduled"
        label={t('scheduled.label')}
        columns={columns}
        list={list}
        rowKey={rowKey}
        open={(task) => navigate({ to: '/scheduled/$id', params: { id: task.taskId } })}
        empty={{
          title: t('scheduled.empty'),
          text: t('scheduled.emptyText'),
          command: 'refire schedule-task -f task.json',
          children: (
            <Button component={Link} to="/scheduled/new" variant="light">
              {t('scheduled.new')}
            </Button>
          ),
        }}
        filtered={filtered ? { words: filterWords(value, fields), clear: () => go({}) } : undefined}
      />
      {asking && <TaskDialogs {...asking} close={() => setAsking(undefined)} />}
    </Page>
  );
}
