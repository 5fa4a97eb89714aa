/** The attempts of a letter: how long was waited before each, and how it failed. */
import type { LetterDetail } from '@/api/queries/dlq';
import { t } from '@/i18n/t';
import { formatDuration } from '@/time/format';
import { IconX } from '@/ui/icons';
import { Time } from '@/ui/time/Time';
import { attemptsOf, longestWait } from './attempts';
import classes from './dlq.module.css';

export function Attempts({ letter }: { letter: LetterDetail }) {
  const attempts = attemptsOf(letter.retry_history);
  if (attempts.length === 0) return <p className={classes.muted}>{t('dlq.noHistory')}</p>;
  const longest = longestWait(attempts);
  return (
    <ol className={classes.attempts}>
      {attempts.map((attempt) => (
        <li key={attempt.retry} className={classes.attempt}>
          <span className={classes.attemptName}>
            {attempt.retry === 0 ? t('dlq.first') : t('dlq.retryNo', { n: attempt.retry })}
          </span>
          <span className={classes.wait}>
            {attempt.waitedMs !== undefined && (
              <>
                <span className={classes.waitBar} aria-hidden="true">
                  <span style={{ width: `${(attempt.waitedMs / longest) * 100}%` }} />
                </span>
                {t('dlq.after', { time: formatDuration(attempt.waitedMs) })}
              </>
            )}
          </span>
          <IconX size={13} className={classes.cross} aria-hidden="true" />
          <span className={classes.attemptError}>{attempt.error}</span>
          <span className={classes.attemptAt}>
            <Time at={attempt.at} as="clock" />
          </span>
        </li>
      ))}
    </ol>
  );
}
