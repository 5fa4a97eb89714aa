/** Above a table: its summary, the pill of new rows, the selection's buttons, the choice of columns. */
import { ActionIcon, Button, Checkbox, Popover, Tooltip } from '@mantine/core';
import type { ReactNode } from 'react';
import { t } from '@/i18n/t';
import { IconArrowUp, IconColumns, IconX } from '../icons';
import type { Column, useColumns } from './columns';
import type { List } from './list';
import classes from './table.module.css';

interface TableBarProps<Row> {
  summary: ReactNode;
  list: List<Row>;
  columns: Column<Row>[];
  chosen: ReturnType<typeof useColumns<Row>>;
  selected: number;
  bulk?: ReactNode;
  clear: () => void;
  toTop: () => void;
}

export function TableBar<Row>(props: TableBarProps<Row>) {
  const { list, selected, bulk } = props;
  return (
    <div className={classes.bar}>
      {bulk ? (
        <div className={classes.selection}>
          <span>{t('common.selected', { count: selected })}</span>
          {bulk}
          <ActionIcon size={24} aria-label={t('common.clearSelection')} onClick={props.clear}>
            <IconX size={14} />
          </ActionIcon>
        </div>
      ) : (
        <div className={classes.summary}>{props.summary}</div>
      )}
      <div className={classes.pillPlace} aria-live="polite">
        {list.fresh > 0 && (
          <Button
            size="compact-xs"
            radius="xl"
            leftSection={<IconArrowUp size={12} />}
            onClick={() => {
              list.showFresh();
              props.toTop();
            }}
          >
            {t(list.freshIsMore ? 'common.newRowsMore' : 'common.newRows', { count: list.fresh })}
          </Button>
        )}
      </div>
      <ColumnChoice columns={props.columns} chosen={props.chosen} />
    </div>
  );
}

function ColumnChoice<Row>({ columns, chosen }: Pick<TableBarProps<Row>, 'columns' | 'chosen'>) {
  return (
    <Popover position="bottom-end" withinPortal trapFocus>
      <Popover.Target>
        <Tooltip label={t('common.columns')}>
          <ActionIcon size={24} aria-label={t('common.columns')}>
            <IconColumns size={15} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
      </Popover.Target>
      <Popover.Dropdown>
        <div className={classes.choice}>
          {columns.map((column) => (
            <Checkbox
              key={column.id}
              label={column.header}
              disabled={column.required}
              checked={chosen.isShown(column.id)}
              onChange={() => chosen.toggle(column.id)}
            />
          ))}
          <Button variant="subtle" size="compact-xs" onClick={chosen.reset}>
            {t('common.resetColumns')}
          </Button>
        </div>
      </Popover.Dropdown>
    </Popover>
  );
}
