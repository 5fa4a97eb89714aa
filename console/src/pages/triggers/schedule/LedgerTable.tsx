/** Entries of the ledger as a table. */
import type { LedgerEntry } from '@/api/queries/triggers';
import { t, word } from '@/i18n/t';
import { CopyId } from '@/ui/copy/CopyId';
import { Status } from '@/ui/status/Status';
import formClasses from '../form/form.module.css';
import { afterText, lookOf, lookWords, stretchText, toneOfLook } from '../slots';

export function Look({ entry }: { entry: LedgerEntry }) {
  const look = lookOf(entry);
  return <Status value={look} tone={toneOfLook(look)} label={lookWords(look)} />;
}

/** Why: the reason in words. */
export function reasonWords(entry: LedgerEntry): string {
  return entry.reason ? word('trigger.reason', `${entry.status}.${entry.reason}`) : '';
}

export function LedgerTable({ entries }: { entries: readonly LedgerEntry[] }) {
  return (
    <div
      className={formClasses.tableScroll}
      tabIndex={0}
      role="region"
      aria-label={t('trigger.ledger')}
    >
      <table className={formClasses.table}>
        <thead>
          <tr>
            <th>{t('trigger.planned')}</th>
            <th>{t('trigger.status')}</th>
            <th>{t('trigger.reason')}</th>
            <th>{t('trigger.afterHead')}</th>
            <th>{t('trigger.execution')}</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((entry) => (
            <tr key={`${entry.nominal}/${entry.status}/${entry.at}`}>
              <td>{stretchText(entry)}</td>
              <td>
                <Look entry={entry} />
              </td>
              <td className={formClasses.wide}>{reasonWords(entry)}</td>
              <td>{entry.execution_id ? afterText(entry) : ''}</td>
              <td>
                {entry.execution_id && (
                  <CopyId id={entry.execution_id} to={`/executions/${entry.execution_id}`} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
