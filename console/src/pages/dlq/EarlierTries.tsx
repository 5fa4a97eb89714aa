/** Retries by people, newest first: who, when, from where, what was edited, how it ended. */
import type { InputChange, LetterDetail } from '@/api/queries/dlq';
import { rich, t } from '@/i18n/t';
import { CopyId } from '@/ui/copy/CopyId';
import { Status } from '@/ui/status/Status';
import { Time } from '@/ui/time/Time';
import { Changes } from './Changes';
import classes from './dlq.module.css';

interface EarlierTriesProps {
  letter: LetterDetail;
  /** Puts an earlier input into the editor. */
  use?: (input: unknown) => void;
}

export function EarlierTries({ letter, use }: EarlierTriesProps) {
  const tries = [...(letter.retries ?? [])].reverse();
  if (tries.length === 0) return null;
  return (
    <section className={classes.section}>
      <h3>{t('dlq.earlier')}</h3>
      <ol className={classes.tries}>
        {tries.map((each) => {
          const changes = (each.input_changes ?? []) as InputChange[];
          return (
            <li key={each.execution_id} className={classes.try}>
              <div className={classes.tryLine}>
                <Status
                  value={each.outcome ?? 'running'}
                  label={each.outcome ? undefined : t('dlq.earlier.open')}
                />
                <CopyId id={each.execution_id} to={`/executions/${each.execution_id}`} />
                <span>
                  {rich('dlq.earlier.by', {
                    who: <strong>{each.retried_by}</strong>,
                    time: <Time at={each.retried_at} />,
                  })}
                </span>
                <span className={classes.muted}>
                  {[
                    each.from &&
                      t(each.from === 'failed_step' ? 'dlq.earlier.step' : 'dlq.earlier.start'),
                    each.edited === false && t('dlq.earlier.original'),
                    each.edited && t('dlq.earlier.edited', { count: changes.length }),
                  ]
                    .filter(Boolean)
                    .join(' · ')}
                </span>
              </div>
              {use && each.edited && each.input !== undefined && (
                <button
                  type="button"
                  className={classes.linkButton}
                  onClick={() => use(each.input)}
                >
                  {t('dlq.earlier.use')}
                </button>
              )}
              {each.error && <div className={classes.tryError}>{each.error.message}</div>}
              {changes.length > 0 && <Changes changes={changes} />}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
