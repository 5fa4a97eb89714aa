/**
 * The table of every list: virtual rows in one grid with one tab stop, chosen and resized columns,
 * selection, rows that open below themselves, and the four states of a list.
 */
import { useVirtualizer } from '@tanstack/react-virtual';
import { type ReactNode, type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { t } from '@/i18n/t';
import { useSettings } from '@/settings/settings';
import { type EmptyProps, EmptyState } from '../state/EmptyState';
import { ProblemView } from '../state/ProblemView';
import { Skeleton } from '../state/Skeleton';
import { BodyRow } from './BodyRow';
import { type Column, useColumns } from './columns';
import { HeadRow } from './HeadRow';
import { useGridKeys } from './keys';
import type { List } from './list';
import { useSelection } from './selection';
import { TableBar } from './TableBar';
import { TableFoot } from './TableFoot';
import classes from './table.module.css';

export interface DataTableProps<Row> {
  /** Names the table where its columns are kept. */
  id: string;
  label: string;
  columns: Column<Row>[];
  list: List<Row>;
  rowKey: (row: Row) => string;
  /** Enter, or a click on the row. */
  open?: (row: Row) => void;
  /** Space: what opens below the row. */
  detail?: (row: Row) => ReactNode;
  /** The open row, when the page keeps it (in the URL). */
  expanded?: string;
  onExpand?: (key: string | undefined) => void;
  /** Buttons for the selected rows; makes rows selectable. */
  bulk?: (rows: Row[], clear: () => void) => ReactNode;
  /** More keys for the row under the cursor, by key name (`r`, `Delete`). */
  rowKeys?: Record<string, (row: Row) => void>;
  empty: EmptyProps;
  /** When a filter is set: its words, and how to clear it. */
  filtered?: { words: string; clear: () => void };
  /** Left of the column choice. */
  summary?: ReactNode;
}

const ROW_PX = { normal: 36, compact: 28 };
/** The column of boxes, and the space at both ends of a row, as in table.module.css. */
const CHECK_PX = 36;
const PADDING_PX = 8;
const OVERSCAN = 12;
/** The next page is read when this share of the rows was seen. */
const PREFETCH_AT = 0.7;

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { list, rowKey, detail } = props;
  const columns = useColumns(props.id, props.columns);
  const keys = useMemo(() => list.rows.map(rowKey), [list.rows, rowKey]);
  const selection = useSelection(keys);
  const [cursor, setCursor] = useState<string>();
  const [own, setOwn] = useState<string>();
  const expanded = props.onExpand ? props.expanded : own;
  const expand = props.onExpand ?? setOwn;
  const table = useRef<HTMLDivElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const { density } = useSettings();
  const height = ROW_PX[density];

  const virtual = useVirtualizer({
    count: list.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: (index) => keys[index]!,
    overscan: OVERSCAN,
    initialRect: { width: 1000, height: 800 },
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new row height measures all again
  useEffect(() => virtual.measure(), [height]);

  const width = columns.least + (props.bulk ? CHECK_PX : 0) + PADDING_PX;
  const items = virtual.getVirtualItems();
  const lastSeen = items.at(-1)?.index ?? 0;
  const { more, loadingMore, loadMore, error } = list;
  const seenEnough = lastSeen >= list.rows.length * PREFETCH_AT;
  useEffect(() => {
    if (more && !loadingMore && !error && seenEnough && list.rows.length > 0 && !list.searchedTo)
      loadMore();
  }, [more, loadingMore, error, seenEnough, loadMore, list.rows.length, list.searchedTo]);

  const chosen = useMemo(
    () => list.rows.filter((row) => selection.has(rowKey(row))),
    [list.rows, selection, rowKey],
  );
  useStill(list, selection.keys.size > 0 || expanded !== undefined, table, scroller);
  const onKeyDown = useGridKeys({
    keys,
    rows: list.rows,
    cursor,
    setCursor,
    selection: props.bulk ? selection : undefined,
    expanded,
    expand: detail ? expand : undefined,
    open: props.open,
    rowKeys: props.rowKeys,
    page: Math.max(1, Math.floor((scroller.current?.clientHeight ?? 400) / height) - 1),
    reveal: (index) => virtual.scrollToIndex(index, { align: 'auto' }),
  });

  return (
    <div ref={table} className={classes.table} data-stale={list.stale || undefined}>
      <TableBar
        summary={props.summary}
        list={list}
        columns={props.columns}
        chosen={columns}
        selected={chosen.length}
        bulk={props.bulk && chosen.length > 0 ? props.bulk(chosen, selection.clear) : undefined}
        clear={selection.clear}
        toTop={() => scroller.current?.scrollTo({ top: 0 })}
      />
      {list.error !== undefined && (
        <div className={classes.problem}>
          <ProblemView error={list.error} retry={list.refetch} />
        </div>
      )}
      <div ref={scroller} className={classes.scroller}>
        <div
          className={classes.grid}
          role="grid"
          aria-label={props.label}
          aria-rowcount={list.more ? -1 : list.rows.length + 1}
          aria-colcount={columns.visible.length + (props.bulk ? 1 : 0)}
          aria-multiselectable={props.bulk ? true : undefined}
          aria-activedescendant={cursor ? rowId(props.id, cursor) : undefined}
          tabIndex={0}
          onKeyDown={onKeyDown}
          onFocus={(event) => {
            if (event.target === event.currentTarget && !cursor) setCursor(keys[0]);
          }}
        >
          <HeadRow
            columns={columns}
            width={width}
            selectable={!!props.bulk}
            selection={selection}
            total={keys.length}
          />
          <div
            className={classes.body}
            role="rowgroup"
            style={{ height: virtual.getTotalSize(), minWidth: width }}
          >
            {items.map((item) => {
              const row = list.rows[item.index];
              const key = keys[item.index];
              if (row === undefined || key === undefined) return null;
              return (
                <BodyRow
                  key={key}
                  ref={virtual.measureElement}
                  id={rowId(props.id, key)}
                  index={item.index}
                  top={item.start}
                  row={row}
                  columns={columns.visible}
                  template={columns.template}
                  current={key === cursor}
                  selected={props.bulk ? selection.has(key) : undefined}
                  select={(range) => selection.toggle(key, range)}
                  expandable={!!detail}
                  detail={key === expanded ? detail?.(row) : undefined}
                  toggleDetail={() => expand(key === expanded ? undefined : key)}
                  activate={() => {
                    setCursor(key);
                    if (props.open) props.open(row);
                    else if (detail) expand(key === expanded ? undefined : key);
                  }}
                  clickable={!!props.open || !!detail}
                />
              );
            })}
          </div>
        </div>
        {list.loading && <Skeleton rows={10} />}
        {!list.loading && list.rows.length === 0 && !list.error && !list.searchedTo && (
          <Empty {...props} />
        )}
        <TableFoot list={list} />
      </div>
    </div>
  );
}

function Empty<Row>({ empty, filtered }: DataTableProps<Row>) {
  if (!filtered) return <EmptyState {...empty} />;
  return (
    <EmptyState title={t('common.noMatch')} text={filtered.words}>
      <button type="button" className={classes.textButton} onClick={filtered.clear}>
        {t('common.clearFilters')}
      </button>
    </EmptyState>
  );
}

const rowId = (table: string, key: string) => `${table}-${key.replace(/\W/g, '_')}`;

/** Rows stand still while the pointer or the focus is in the table, it is scrolled, or somebody is at work in it. */
function useStill<Row>(
  list: List<Row>,
  busy: boolean,
  table: RefObject<HTMLDivElement | null>,
  scroller: RefObject<HTMLDivElement | null>,
) {
  const { holdWhile } = list;
  useEffect(() => {
    holdWhile(() => {
      const element = table.current;
      if (!element) return false;
      const inside = element.matches(':hover') || element.contains(document.activeElement);
      return busy || inside || (scroller.current?.scrollTop ?? 0) > 0;
    });
  }, [holdWhile, busy, table, scroller]);
}
