/** A row of a table, and what opens below it. */
import { ActionIcon, Checkbox } from '@mantine/core';
import type { MouseEvent, ReactNode, Ref } from 'react';
import { t } from '@/i18n/t';
import { IconChevronRight } from '../icons';
import type { Column } from './columns';
import classes from './table.module.css';

interface BodyRowProps<Row> {
  ref: Ref<HTMLDivElement>;
  id: string;
  index: number;
  top: number;
  row: Row;
  columns: Column<Row>[];
  template: string;
  current: boolean;
  /** Nothing when rows cannot be selected. */
  selected?: boolean;
  select: (range: boolean) => void;
  expandable: boolean;
  detail?: ReactNode;
  toggleDetail: () => void;
  activate: () => void;
  clickable: boolean;
}

/** Clicks on controls, and drags over text, are not clicks on the row. */
function isOwnClick(event: MouseEvent): boolean {
  if ((event.target as Element).closest('a, button, input, label, [role="menuitem"]')) return false;
  return !window.getSelection()?.toString();
}

export function BodyRow<Row>(props: BodyRowProps<Row>) {
  const { row, columns, selected, detail, expandable } = props;
  const click = (event: MouseEvent) => {
    if (!isOwnClick(event)) return;
    if (event.shiftKey && selected !== undefined) props.select(true);
    else props.activate();
  };
  const lead = selected !== undefined ? '36px ' : '';
  return (
    <div
      ref={props.ref}
      role="presentation"
      data-index={props.index}
      className={classes.slot}
      style={{ transform: `translateY(${props.top}px)` }}
    >
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the grid has the keys */}
      <div
        id={props.id}
        role="row"
        aria-rowindex={props.index + 2}
        aria-selected={selected}
        className={classes.row}
        data-current={props.current || undefined}
        data-selected={selected || undefined}
        data-clickable={props.clickable || undefined}
        style={{ gridTemplateColumns: lead + props.template }}
        onClick={click}
      >
        {selected !== undefined && (
          <div role="gridcell" className={classes.check}>
            <Checkbox
              aria-label={t('common.selectRow')}
              tabIndex={-1}
              checked={selected}
              onChange={(event) =>
                props.select((event.nativeEvent as unknown as globalThis.MouseEvent).shiftKey)
              }
            />
          </div>
        )}
        {columns.map((column, index) => (
          <div key={column.id} role="gridcell" className={classes.cell} data-align={column.align}>
            {index === 0 && expandable && (
              <ActionIcon
                size={20}
                tabIndex={-1}
                className={classes.chevron}
                aria-label={t(detail !== undefined ? 'common.collapse' : 'common.expand')}
                aria-expanded={detail !== undefined}
                data-open={detail !== undefined || undefined}
                onClick={props.toggleDetail}
              >
                <IconChevronRight size={14} />
              </ActionIcon>
            )}
            {column.cell(row)}
          </div>
        ))}
      </div>
      {detail !== undefined && (
        <div role="row" className={classes.detailRow}>
          <div role="gridcell" className={classes.detail}>
            {detail}
          </div>
        </div>
      )}
    </div>
  );
}
