/** Below the rows: more is being read, or a search may go on. */
import { Button, Loader } from '@mantine/core';
import { t } from '@/i18n/t';
import { formatInstant } from '@/time/format';
import type { List } from './list';
import classes from './table.module.css';

export function TableFoot<Row>({ list }: { list: List<Row> }) {
  if (list.loadingMore)
    return (
      <div className={classes.foot}>
        <Loader size={14} />
      </div>
    );
  if (!list.searchedTo || !list.more) return null;
  return (
    <div className={classes.foot}>
      {t('common.searchedTo', { time: formatInstant(Date.parse(list.searchedTo)) })}
      <Button variant="default" size="compact-xs" onClick={list.loadMore}>
        {t('common.searchFurther')}
      </Button>
    </div>
  );
}
