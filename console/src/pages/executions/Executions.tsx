/** All executions: filters, the count by status, rows that stay true. */
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  type ExecutionFilter,
  executionKeys,
  executionPage,
  executionsByIds,
} from '@/api/queries/executions';
import { workflowNames } from '@/api/queries/names';
import { stretchOf } from '@/api/stretch';
import type { Execution } from '@/api/types';
import { type BulkAsk, BulkDialog } from '@/bulk/BulkDialog';
import { BulkButtons, BulkMenu, setOnly } from '@/bulk/BulkMenu';
import { t } from '@/i18n/t';
import { useFollow } from '@/live/follow';
import { FilterBar } from '@/ui/filter/FilterBar';
import { clearFilter, filterWords, isFiltered } from '@/ui/filter/filter';
import { Page } from '@/ui/page/Page';
import { isFinal } from '@/ui/status/status';
import { DataTable } from '@/ui/table/DataTable';
import { Counts } from './Counts';
import { executionColumns } from './columns';
import { executionFields, parseExecutionFilter } from './filter';
import { Preview } from './Preview';
import { executionsRoute } from './route';

const ACTIONS = ['pause', 'resume', 'cancel', 'run_again'] as const;
const rowKey = (row: Execution) => row.execution_id;
const refresh = { changing: (row: Execution) => !isFinal(row.status), read: executionsByIds };

export function Executions() {
  const search = executionsRoute.useSearch();
  const router = useRouter();
  const client = useQueryClient();
  const { value, wrong } = useMemo(() => parseExecutionFilter({ ...search }), [search]);
  const filter = value as ExecutionFilter;
  const fields = useMemo(() => executionFields(() => client.fetchQuery(workflowNames)), [client]);
  const columns = useMemo(executionColumns, []);
  const queryKey = useMemo(() => executionKeys.list(filter), [filter]);
  const list = useFollow<Execution>({
    queryKey,
    page: (cursor, signal) => executionPage(filter, cursor, signal),
    rowKey,
    refresh,
  });
  const [asking, setAsking] = useState<{ ask: BulkAsk; clear?: () => void }>();
  const change = (next: ExecutionFilter) => router.navigate({ to: '/executions', search: next });

  return (
    <Page
      title={t('executions.title')}
      fill
      actions={
        <BulkMenu
          kind="executions"
          actions={ACTIONS}
          filter={bulkFilter(filter)}
          words={filterWords(value, fields)}
          ask={(ask) => setAsking({ ask })}
        />
      }
    >
      <FilterBar
        fields={fields}
        value={value}
        wrong={wrong}
        onChange={change}
        placeholder={t('executions.placeholder')}
      />
      <DataTable
        id="executions"
        label={t('executions.title')}
        columns={columns}
        list={list}
        rowKey={rowKey}
        open={(row) => router.navigate({ to: '/executions/$id', params: { id: row.execution_id } })}
        bulk={(rows, clear) => (
          <BulkButtons
            kind="executions"
            actions={ACTIONS}
            ids={rows.map(rowKey)}
            ask={(ask) => setAsking({ ask, clear })}
          />
        )}
        detail={(row) => <Preview row={row} />}
        summary={<Counts filter={filter} change={change} />}
        empty={{
          title: t('executions.empty'),
          text: t('executions.emptyText'),
          command: "refire execute <workflow> --input '{}'",
        }}
        filtered={
          isFiltered(value, fields)
            ? {
                words: filterWords(value, fields),
                clear: () => change(clearFilter(value, fields)),
              }
            : undefined
        }
      />
      {asking && (
        <BulkDialog
          ask={asking.ask}
          close={(started) => {
            if (started) asking.clear?.();
            setAsking(undefined);
          }}
        />
      )}
    </Page>
  );
}

/** The filter by the server's names, with absolute times; nothing while none is set. */
function bulkFilter({ version, ...rest }: ExecutionFilter) {
  return setOnly({ ...rest, ...stretchOf(rest), version: version ? Number(version) : undefined });
}
