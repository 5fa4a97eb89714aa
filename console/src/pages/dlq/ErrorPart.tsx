/** The error in full: type, code, message, causes or trace, the target's answer, what was undone. */
import type { LetterDetail } from '@/api/queries/dlq';
import { t } from '@/i18n/t';
import { CopyButton } from '@/ui/copy/CopyButton';
import { Status } from '@/ui/status/Status';
import classes from './dlq.module.css';

export function ErrorPart({ letter }: { letter: LetterDetail }) {
  const { response } = letter;
  return (
    <div className={classes.errorPart}>
      <dl className={classes.errorFacts}>
        <dt>{t('dlq.error.type')}</dt>
        <dd>
          <code>{letter.error_type}</code>
        </dd>
        {letter.error_code && (
          <>
            <dt>
              {t(letter.error_type === 'http_status' ? 'dlq.error.status' : 'dlq.error.code')}
            </dt>
            <dd>
              <code>{letter.error_code}</code>
            </dd>
          </>
        )}
        <dt>{t('dlq.error.message')}</dt>
        <dd>{letter.error_message}</dd>
      </dl>
      {letter.error_stacktrace && (
        <Block title={t('dlq.error.causes')} text={letter.error_stacktrace} />
      )}
      {response && (response.body || response.status) && (
        <Block
          title={`${t('dlq.error.answer')}${response.status ? ` · ${t('dlq.error.answerStatus', { status: response.status })}` : ''}`}
          text={response.body ?? ''}
        />
      )}
      <Undone letter={letter} />
    </div>
  );
}

function Block({ title, text }: { title: string; text: string }) {
  return (
    <details className={classes.block} open>
      <summary>{title}</summary>
      {text && (
        <div className={classes.blockText}>
          <pre tabIndex={0}>{text}</pre>
          <span className={classes.blockCopy}>
            <CopyButton text={text} size={24} />
          </span>
        </div>
      )}
    </details>
  );
}

function Undone({ letter }: { letter: LetterDetail }) {
  const { compensations = [], compensation_failures: failures = [] } = letter;
  if (compensations.length === 0 && failures.length === 0) return null;
  return (
    <ul className={classes.undone}>
      {compensations.map((each) => (
        <li key={each.step_id} className={classes.undoneItem}>
          <Status
            value={each.status}
            tone={each.status === 'completed' ? 'compensated' : undefined}
            label={each.status === 'completed' ? t('dlq.undone') : undefined}
          />
          {t('dlq.undoes', { step: each.step_id, undone: each.undoes })}
        </li>
      ))}
      {failures.map((each) => (
        <li key={`failed ${each.step_id}`} className={classes.warnText}>
          {t('dlq.notUndone', { step: each.undoes })}: {each.error.message}
        </li>
      ))}
    </ul>
  );
}
