/** What executions came to, as one bar; each part opens its list. */
import { Link } from '@tanstack/react-router';
import type { Overview } from '@/api/queries/overview';
import { formatNumber, t, word } from '@/i18n/t';
import { Panel } from '@/ui/page/Page';
import { toneOf } from '@/ui/status/status';
import { outcomesOf } from './numbers';
import classes from './overview.module.css';

export function Outcomes({ overview, range }: { overview: Overview; range: string }) {
  const outcomes = outcomesOf(overview.executions.by_status);
  return (
    <Panel title={t('overview.outcomes')}>
      {outcomes.length === 0 ? (
        <p className={classes.muted}>{t('overview.outcomesNone')}</p>
      ) : (
        <>
          <div className={classes.bar} aria-hidden="true">
            {outcomes.map(({ status, share }) => (
              <span key={status} data-tone={toneOf(status)} style={{ flexGrow: share }} />
            ))}
          </div>
          <ul className={classes.legend}>
            {outcomes.map(({ status, count }) => (
              <li key={status}>
                <Link to="/executions" search={{ status, from: `-${range}` }}>
                  <span className={classes.dot} data-tone={toneOf(status)} aria-hidden="true" />
                  {word('status', status)} <strong>{formatNumber(count)}</strong>
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  );
}
