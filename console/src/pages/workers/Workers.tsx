/** The workers: who is there, what they ask for, what they have; and how to make a first one. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { addressOf } from '@/api/base';
import {
  readWorkers,
  removeWorker,
  removeWorkerRequest,
  type Worker,
  type WorkerFilter,
  workersKey,
} from '@/api/queries/workers';
import { t, word } from '@/i18n/t';
import { useFollow } from '@/live/follow';
import { Confirm } from '@/ui/confirm/Confirm';
import { CopyText } from '@/ui/copy/CopyText';
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
import { toastDone } from '@/ui/toast/toast';
import { workerColumns } from './columns';
import { workersRoute } from './route';
import classes from './workers.module.css';

const rowKey = (worker: Worker) => worker.workerId;
const STATUSES = ['active', 'idle', 'dead'];

function workerFields(): FilterField[] {
  return [
    {
      key: 'status',
      kind: 'choice',
      several: true,
      label: t('workers.filter.status'),
      options: STATUSES.map((status) => ({ value: status, label: word('status', status) })),
    },
    { key: 'type', kind: 'text', label: t('workers.filter.type'), placeholder: 'n8n' },
  ];
}

export function Workers() {
  const search = workersRoute.useSearch();
  const navigate = useNavigate();
  const [releasing, setReleasing] = useState<Worker>();
  const fields = useMemo(workerFields, []);
  const text = JSON.stringify(search);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text says everything of the search
  const { value, wrong } = useMemo(() => checkFilter(search, fields), [text, fields]);
  const filter = value as WorkerFilter;
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const queryKey = useMemo(() => [...workersKey, 'list', filter], [text]);
  const list = useFollow<Worker>({
    queryKey,
    page: (cursor, signal) => readWorkers(filter, cursor, signal),
    rowKey,
  });
  const columns = useMemo(() => workerColumns(setReleasing), []);
  const go = (next: FilterValue) =>
    navigate({ to: '/workers', search: next as Record<string, string> });
  const filtered = isFiltered(value, fields);

  return (
    <Page title={t('workers.title')} fill>
      <FilterBar
        fields={fields}
        value={value}
        wrong={wrong}
        onChange={go}
        noRange
        placeholder={t('workers.filter.search')}
      />
      <DataTable
        id="workers"
        label={t('workers.label')}
        columns={columns}
        list={list}
        rowKey={rowKey}
        open={(worker) => navigate({ to: '/tasks', search: { worker: worker.workerId } })}
        empty={{ title: t('workers.empty'), text: <Snippets /> }}
        filtered={filtered ? { words: filterWords(value, fields), clear: () => go({}) } : undefined}
      />
      {releasing && <Release worker={releasing} close={() => setReleasing(undefined)} />}
    </Page>
  );
}

function Release({ worker, close }: { worker: Worker; close: () => void }) {
  const client = useQueryClient();
  return (
    <Confirm
      opened
      danger
      onClose={close}
      title={t('workers.releaseTitle', { worker: worker.workerId })}
      action={t('workers.release')}
      request={removeWorkerRequest(worker.workerId)}
      run={async () => {
        const { released } = await removeWorker(worker.workerId);
        toastDone(t('workers.released', { count: Number(released) }));
        client.invalidateQueries({ queryKey: workersKey });
      }}
    >
      {t('workers.releaseText', { count: worker.held })}
    </Confirm>
  );
}

function Snippets() {
  const poll = addressOf(
    '/api/external-tasks/poll?taskType=my-task&workerId=worker-1&waitSeconds=30',
  );
  return (
    <span className={classes.snippets}>
      <span>{t('workers.emptyText')}</span>
      <span>
        {t('workers.anyProgram')}
        <CopyText text="refire worker --type my-task -- ./do-it.sh" block />
      </span>
      <span>
        {t('workers.plainHttp')}
        <CopyText text={`curl -H "Authorization: Bearer $REFIRE_API_KEY" '${poll}'`} block />
      </span>
    </span>
  );
}
