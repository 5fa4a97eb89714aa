/** The list of external tasks: what waits by type, then each with its owner, lock, heartbeat and progress. */
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  type ExternalTask,
  readTasks,
  readTasksAgain,
  type TaskFilter,
  taskSummary,
  tasksKey,
} from '@/api/queries/tasks';
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
import { Page } from '@/ui/page/Page';
import { DataTable } from '@/ui/table/DataTable';
import { ByType } from './ByType';
import { taskColumns } from './columns';
import { tasksRoute } from './route';
import { UnlockDialog } from './UnlockDialog';

const rowKey = (task: ExternalTask) => task.id;
const REFRESH = {
  changing: (task: ExternalTask) => task.status === 'PENDING' || task.status === 'LOCKED',
  read: readTasksAgain,
};
const STATUSES = ['pending', 'locked', 'completed', 'failed', 'cancelled'];

export function Tasks() {
  const search = tasksRoute.useSearch();
  const navigate = useNavigate();
  const [unlocking, setUnlocking] = useState<ExternalTask>();
  const summary = useQuery(taskSummary);
  const types = summary.data?.items.map((item) => item.taskType).join('\n') ?? '';
  const fields = useMemo(() => taskFields(types ? types.split('\n') : []), [types]);
  const text = JSON.stringify(search);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text says everything of the search
  const { value, wrong } = useMemo(() => checkFilter(search, fields), [text, fields]);
  const filter = value as TaskFilter;
  const filterText = JSON.stringify(filter);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const queryKey = useMemo(() => [...tasksKey, 'list', filter], [filterText]);
  const list = useFollow<ExternalTask>({
    queryKey,
    page: (cursor, signal) => readTasks(filter, cursor, signal),
    rowKey,
    everyMs: 2_000,
    refresh: REFRESH,
  });
  const columns = useMemo(() => taskColumns(setUnlocking), []);
  const go = (next: FilterValue) =>
    navigate({ to: '/tasks', search: next as Record<string, string> });
  /** What is typed is a task's id, an execution's id, or a type. */
  const find = ({ q, ...next }: FilterValue) => {
    if (q?.startsWith('xt_')) navigate({ to: '/tasks/$id', params: { id: q } });
    else if (q?.startsWith('exec_')) go({ ...next, execution: q });
    else go(q ? { ...next, type: q } : next);
  };

  return (
    <Page title={t('tasks.title')} fill>
      {summary.data && summary.data.items.length > 0 && (
        <ByType items={summary.data.items} chosen={filter.type} />
      )}
      <FilterBar
        fields={fields}
        value={value}
        wrong={wrong}
        onChange={find}
        noRange
        placeholder={t('tasks.filter.search')}
      />
      <DataTable
        id="tasks"
        label={t('tasks.label')}
        columns={columns}
        list={list}
        rowKey={rowKey}
        open={(task) => navigate({ to: '/tasks/$id', params: { id: task.id } })}
        rowKeys={{ u: (task) => task.status === 'LOCKED' && setUnlocking(task) }}
        empty={{
          title: t('tasks.empty'),
          text: t('tasks.emptyText'),
          command: 'refire tasks list',
        }}
        filtered={
          isFiltered(value, fields)
            ? { words: filterWords(value, fields), clear: () => go({}) }
            : undefined
        }
      />
      {unlocking && <UnlockDialog task={unlocking} close={() => setUnlocking(undefined)} />}
    </Page>
  );
}

function taskFields(types: string[]): FilterField[] {
  return [
    {
      key: 'type',
      kind: 'text',
      label: t('tasks.filter.type'),
      suggest: () => Promise.resolve(types),
    },
    {
      key: 'status',
      kind: 'choice',
      several: true,
      label: t('tasks.filter.status'),
      options: STATUSES.map((status) => ({ value: status, label: word('status', status) })),
    },
    { key: 'worker', kind: 'text', label: t('tasks.filter.worker') },
    { key: 'execution', kind: 'text', label: t('tasks.filter.execution'), placeholder: 'exec_…' },
  ];
}
