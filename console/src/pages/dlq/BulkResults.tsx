/** What became of each letter of an action on several. */
import { t, word } from '@/i18n/t';
import { CopyId } from '@/ui/copy/CopyId';
import { Status } from '@/ui/status/Status';
import { type BulkAction, type BulkItem, countStates } from './bulk';
import classes from './dlq.module.css';

/** Rows that are drawn at most; the numbers above count all. */
const MOST_ROWS = 500;
const LOOK = {
  waiting: 'pending',
  running: 'running',
  done: 'completed',
  refused: 'failed',
} as const;

export function BulkResults({ items, action }: { items: BulkItem[]; action: BulkAction }) {
  const counts = countStates(items);
  return (
    <>
      <div className={classes.counts} role="status">
        <strong>
          {t('dlq.bulk.done', { done: counts.done + counts.refused, total: items.length })}
        </strong>
        <span>
          {t(action === 'retry' ? 'dlq.bulk.ok' : 'dlq.bulk.okDelete', { count: counts.done })}
        </span>
        {counts.refused > 0 && <span>{t('dlq.bulk.refused', { count: counts.refused })}</span>}
        {counts.waiting > 0 && <span>{t('dlq.bulk.left', { count: counts.waiting })}</span>}
      </div>
      <ul className={classes.results}>
        {items.slice(0, MOST_ROWS).map((item) => (
          <li key={item.letter.id} className={classes.result}>
            <Status
              value={item.state}
              tone={LOOK[item.state]}
              label={word(
                'dlq.bulk.item',
                item.state === 'done' && action === 'delete' ? 'deleted' : item.state,
              )}
            />
            <span className={classes.cut}>{item.letter.workflow_id}</span>
            {item.execution ? (
              <CopyId id={item.execution} to={`/executions/${item.execution}`} plain />
            ) : (
              <CopyId id={item.letter.id} to={`/dlq/${item.letter.id}`} plain />
            )}
            {item.reason && <span className={classes.reason}>{item.reason}</span>}
          </li>
        ))}
      </ul>
    </>
  );
}
