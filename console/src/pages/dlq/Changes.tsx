/** Differences as lines: path, old value, new value. */
import { stringifyExact } from '@/api/exact';
import { t } from '@/i18n/t';
import classes from './dlq.module.css';

/** More are counted, not shown: the diff has them all. */
const SHOWN = 8;
const LONGEST = 80;

interface Line {
  path: string;
  kind: string;
  old?: unknown;
  new?: unknown;
}

function short(value: unknown): string {
  const text = stringifyExact(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

export function Changes({ changes }: { changes: readonly Line[] }) {
  return (
    <ul className={classes.changes}>
      {changes.slice(0, SHOWN).map((change) => (
        <li key={`${change.kind} ${change.path}`} className={classes.change}>
          <code>{change.path}</code>
          {change.kind !== 'added' && <del>{short(change.old)}</del>}
          {change.kind === 'changed' && <span aria-hidden="true">→</span>}
          {change.kind !== 'removed' && <ins>{short(change.new)}</ins>}
        </li>
      ))}
      {changes.length > SHOWN && (
        <li className={classes.muted}>{t('dlq.moreChanges', { count: changes.length - SHOWN })}</li>
      )}
    </ul>
  );
}
