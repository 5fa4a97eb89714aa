/** The head of a table: names, widths, and the box that selects all. */
import { Checkbox } from '@mantine/core';
import type { PointerEvent } from 'react';
import { t } from '@/i18n/t';
import type { Column, useColumns } from './columns';
import type { Selection } from './selection';
import classes from './table.module.css';

interface HeadRowProps {
  columns: Pick<ReturnType<typeof useColumns>, 'template' | 'resize'> & {
    visible: Pick<Column<unknown>, 'id' | 'header' | 'align'>[];
  };
  width: number;
  selectable: boolean;
  selection: Selection;
  total: number;
}

export function HeadRow({ columns, width, selectable, selection, total }: HeadRowProps) {
  const count = selection.keys.size;
  return (
    <div role="rowgroup" className={classes.head} style={{ minWidth: width }}>
      <div
        role="row"
        aria-rowindex={1}
        className={classes.row}
        style={{ gridTemplateColumns: (selectable ? '36px ' : '') + columns.template }}
      >
        {selectable && (
          <div role="columnheader" className={classes.check}>
            <Checkbox
              aria-label={t('common.selectAll')}
              tabIndex={-1}
              checked={count > 0 && count === total}
              indeterminate={count > 0 && count < total}
              onChange={() => (count > 0 ? selection.clear() : selection.all())}
            />
          </div>
        )}
        {columns.visible.map((column) => (
          <div
            key={column.id}
            role="columnheader"
            className={classes.headCell}
            data-align={column.align}
          >
            <span className={classes.headText}>{column.header}</span>
            <span
              className={classes.grip}
              aria-hidden="true"
              onPointerDown={(event) => dragWidth(event, (px) => columns.resize(column.id, px))}
            />
          </div>
        ))}
      </div>
    </div>
  );
}

function dragWidth(event: PointerEvent<HTMLElement>, resize: (width: number) => void) {
  event.preventDefault();
  const grip = event.currentTarget;
  const start = event.clientX;
  const width = grip.parentElement!.getBoundingClientRect().width;
  grip.setPointerCapture(event.pointerId);
  const move = (next: globalThis.PointerEvent) => resize(width + next.clientX - start);
  const end = () => {
    grip.removeEventListener('pointermove', move);
    grip.removeEventListener('pointerup', end);
  };
  grip.addEventListener('pointermove', move);
  grip.addEventListener('pointerup', end);
}
