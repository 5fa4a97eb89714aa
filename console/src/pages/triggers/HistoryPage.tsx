/** A long list that belongs to one trigger, with its filter: the ledger, the requests. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type ReactNode, useMemo } from 'react';
import { triggerQuery } from '@/api/queries/triggers';
import { pageOf } from '@/api/stretch';
import type { Page as Rows } from '@/api/types';
import { useFollow } from '@/live/follow';
import { FilterBar } from '@/ui/filter/FilterBar';
import {
  checkFilter,
  clearFilter,
  type FilterField,
  filterWords,
  isFiltered,
} from '@/ui/filter/filter';
import { Page } from '@/ui/page/Page';
import type { EmptyProps } from '@/ui/state/EmptyState';
import type { Column } from '@/ui/table/columns';
import { DataTable, type DataTableProps } from '@/ui/table/DataTable';
import type { List } from '@/ui/table/list';
import { titleOf } from './words';

type Filter = Record<string, string | undefined>;

interface HistoryPageProps<Row>
  extends Pick<DataTableProps<Row>, 'open' | 'detail' | 'expanded' | 'rowKey'> {
  /** Names the table where its columns are kept. */
  table: string;
  trigger: string;
  title: string;
  /** The filter as the address has it. */
  search: Filter;
  fields: () => FilterField[];
  columns: () => Column<Row>[];
  listKey: (id: string, filter: Filter) => readonly unknown[];
  /** Reads a page; times are absolute. */
  read: (
    id: string,
    filter: Filter,
    cursor: string | null,
    signal: AbortSignal,
  ) => Promise<Rows<Row>>;
  go: (next: Filter, replace?: boolean) => void;
  placeholder: string;
  summary: (list: List<Row>) => ReactNode;
  empty: EmptyProps;
}

export function HistoryPage<Row>(props: HistoryPageProps<Row>) {
  const { trigger: id, search, fields, columns, listKey, read, go } = props;
  const { data: trigger } = useQuery(triggerQuery(id));
  const known = useMemo(fields, [fields]);
  const shown = useMemo(columns, [columns]);
  const { value, wrong } = useMemo(() => checkFilter(search, known), [search, known]);
  const queryKey = useMemo(() => listKey(id, value), [id, value, listKey]);
  const list = useFollow<Row>({
    queryKey,
    rowKey: props.rowKey,
    page: (cursor, signal) => pageOf(value, cursor, (asked) => read(id, asked, cursor, signal)),
  });
  return (
    <Page
      fill
      title={props.title}
      subtitle={
        <Link to="/triggers/$id" params={{ id }}>
          {trigger ? `${trigger.workflow_id} · ${titleOf(trigger)}` : id}
        </Link>
      }
    >
      <FilterBar
        fields={known}
        value={value}
        wrong={wrong}
        onChange={(next) => go(next)}
        placeholder={props.placeholder}
      />
      <DataTable
        id={props.table}
        label={props.title}
        columns={shown}
        list={list}
        rowKey={props.rowKey}
        open={props.open}
        detail={props.detail}
        expanded={props.expanded}
        onExpand={props.detail && ((key) => go({ ...value, open: key }, true))}
        summary={props.summary(list)}
        empty={props.empty}
        filtered={
          isFiltered(value, known)
            ? { words: filterWords(value, known), clear: () => go(clearFilter(value, known)) }
            : undefined
        }
      />
    </Page>
  );
}
