/** The full ledger of a trigger. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { type LedgerEntry, readSlots, slotListKey, triggerQuery } from '@/api/queries/triggers';
import { t, word } from '@/i18n/t';
import { serverNow } from '@/live/clock';
import { useFollow } from '@/live/follow';
import { absoluteTime } from '@/time/range';
import { CopyId } from '@/ui/copy/CopyId';
import { FilterBar } from '@/ui/filter/FilterBar';
import {
  checkFilter,
  clearFilter,
  type FilterField,
  filterWords,
  isFiltered,
} from '@/ui/filter/filter';
import { Page } from '@/ui/page/Page';
import type { Column } from '@/ui/table/columns';
import { DataTable } from '@/ui/table/DataTable';
import { Time } from '@/ui/time/Time';
import { slotsRoute } from '../route';
import { afterText, stretchText } from '../slots';
import { titleOf } from '../words';
import { Look, reasonWords } from './LedgerTable';

const rowKey = (entry: LedgerEntry) => `${entry.nominal}/${entry.status}/${entry.at}`;

const fields = (): FilterField[] => [
  {
    key: 'status',
    kind: 'choice',
    several: true,
    label: t('trigger.status'),
    options: (['fired', 'late', 'skipped', 'overdue', 'recovered'] as const).map((value) => ({
      value,
      label: word('status', value),
    })),
  },
];

const columns = (): Column<LedgerEntry>[] => [
  {
    id: 'planned',
    header: t('trigger.planned'),
    width: 240,
    grow: 2,
    required: true,
    cell: stretchText,
  },
  { id: 'status', header: t('trigger.status'), width: 110, cell: (row) => <Look entry={row} /> },
  { id: 'reason', header: t('trigger.reason'), width: 220, grow: 2, cell: reasonWords },
  {
    id: 'after',
    header: t('trigger.afterHead'),
    width: 90,
    align: 'end',
    cell: (row) => (row.execution_id ? afterText(row) : ''),
  },
  {
    id: 'execution',
    header: t('trigger.execution'),
    width: 170,
    cell: (row) =>
      row.execution_id && (
        <CopyId id={row.execution_id} to={`/executions/${row.execution_id}`} plain />
      ),
  },
  { id: 'at', header: t('trigger.seenAt'), width: 120, cell: (row) => <Time at={row.at} /> },
];

export function SlotsPage() {
  const { id } = slotsRoute.useParams();
  const search = slotsRoute.useSearch();
  const navigate = useNavigate();
  const { data: trigger } = useQuery(triggerQuery(id));
  const known = useMemo(fields, []);
  const shown = useMemo(columns, []);
  const { value, wrong } = useMemo(() => checkFilter(search, known), [search, known]);
  const queryKey = useMemo(() => slotListKey(id, value), [id, value]);
  const list = useFollow<LedgerEntry>({
    queryKey,
    rowKey,
    page: (cursor, signal) =>
      readSlots(
        id,
        {
          status: value.status,
          from: absoluteTime(value.from, serverNow()),
          to: absoluteTime(value.to, serverNow()),
        },
        cursor,
        signal,
      ),
  });
  const change = (next: typeof value) =>
    navigate({ to: '/triggers/$id/slots', params: { id: id }, search: next });
  return (
    <Page
      fill
      title={t('trigger.ledger')}
      subtitle={
        <Link to="/triggers/$id" params={{ id: id }}>
          {trigger ? `${trigger.workflow_id} · ${titleOf(trigger)}` : id}
        </Link>
      }
    >
      <FilterBar
        fields={known}
        value={value}
        wrong={wrong}
        onChange={change}
        placeholder="status:skipped"
      />
      <DataTable
        id="slots"
        label={t('trigger.ledger')}
        columns={shown}
        list={list}
        rowKey={rowKey}
        open={(row) => {
          if (row.execution_id)
            navigate({ to: '/executions/$id', params: { id: row.execution_id } });
        }}
        summary={list.loading ? undefined : t('trigger.ledgerRows', { count: list.rows.length })}
        empty={{
          title: t('trigger.ledgerEmpty'),
          command: `refire trigger slots ${id}`,
        }}
        filtered={
          isFiltered(value, known)
            ? { words: filterWords(value, known), clear: () => change(clearFilter(value, known)) }
            : undefined
        }
      />
    </Page>
  );
}
