/** What changed between two definitions, one line for each change. */
import { stringifyExact } from '@/api/exact';
import { t, word } from '@/i18n/t';
import { IconEdit, IconMinus, IconPlus } from '../icons';
import classes from './changes.module.css';

export interface ChangeLine {
  path: string;
  /** `added`, `removed`, `changed`. */
  kind: string;
  old?: unknown;
  new?: unknown;
}

const ICONS = { added: IconPlus, removed: IconMinus, changed: IconEdit };
const LONGEST = 400;

function short(value: unknown): string {
  const text = typeof value === 'string' ? value : stringifyExact(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text;
}

export function Changes({ changes }: { changes: readonly ChangeLine[] }) {
  if (changes.length === 0) return <p className={classes.none}>{t('workflow.noChanges')}</p>;
  return (
    <ul className={classes.list} aria-label={t('workflow.changes')}>
      {changes.map((change, index) => {
        const Icon = ICONS[change.kind as keyof typeof ICONS] ?? IconEdit;
        return (
          <li key={index} data-kind={change.kind}>
            <Icon size={14} aria-hidden="true" />
            <span className="hidden-text">{word('workflow.change', change.kind)}</span>
            <code className={classes.path}>{change.path}</code>
            <span className={classes.values}>
              {change.kind !== 'added' && <del>{short(change.old)}</del>}
              {change.kind === 'changed' && <span aria-hidden="true">{' → '}</span>}
              {change.kind !== 'removed' && <ins>{short(change.new)}</ins>}
            </span>
          </li>
        );
      })}
    </ul>
  );
}
