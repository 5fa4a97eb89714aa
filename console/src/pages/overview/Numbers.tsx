/** The big numbers; each links to the rows it counts. */
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { Overview } from '@/api/queries/overview';
import { formatNumber, rich, t, word } from '@/i18n/t';
import { toneOf } from '@/ui/status/status';
import { Time } from '@/ui/time/Time';
import { percent } from './numbers';
import classes from './overview.module.css';

const OPEN = ['running', 'retrying', 'waiting', 'paused', 'pending'] as const;

export function Numbers({ overview, range }: { overview: Overview; range: string }) {
  const { executions, dead_letters: letters, open } = overview;
  const total = formatNumber(executions.total);
  const inRange = { from: `-${range}` };
  const openNow = OPEN.filter((status) => open[status] > 0);
  return (
    <div className={classes.numbers}>
      <Tile
        label={t('overview.success')}
        value={percent(overview.success_rate)}
        to="/executions"
        search={{ ...inRange, status: 'completed' }}
      />
      <Tile
        label={t('overview.executions')}
        value={executions.exact ? total : t('overview.approx', { count: total })}
        to="/executions"
        search={inRange}
      />
      <Tile
        label={t('overview.recovery')}
        value={percent(overview.retry_recovery)}
        note={t('overview.recoveryNote')}
        to="/executions"
        search={inRange}
      />
      <Tile
        label={t('overview.letters')}
        value={formatNumber(letters.pending)}
        alarm={letters.pending > 0}
        note={
          letters.pending === 0 ? (
            t('overview.lettersNone')
          ) : (
            <>
              {letters.new_in_range > 0 && (
                <strong>{t('overview.lettersNew', { count: letters.new_in_range })} · </strong>
              )}
              {letters.oldest &&
                rich('overview.lettersOldest', { time: <Time at={letters.oldest} /> })}
            </>
          )
        }
        to="/dlq"
        search={{ from: 'all', status: 'pending' }}
      />
      <div className={classes.tile} data-wide>
        <span className={classes.tileLabel}>{t('overview.open')}</span>
        {openNow.length === 0 ? (
          <span className={classes.muted}>{t('overview.openNone')}</span>
        ) : (
          <span className={classes.opens}>
            {openNow.map((status) => (
              <Link
                key={status}
                to="/executions"
                search={{ status }}
                className={classes.open}
                data-tone={toneOf(status)}
              >
                <strong>{formatNumber(open[status])}</strong> {word('status', status)}
              </Link>
            ))}
          </span>
        )}
      </div>
    </div>
  );
}

interface TileProps {
  label: string;
  value: string;
  note?: ReactNode;
  to: string;
  search: Record<string, string>;
  alarm?: boolean;
}

function Tile({ label, value, note, to, search, alarm }: TileProps) {
  return (
    <div className={classes.tile}>
      <span className={classes.tileLabel}>{label}</span>
      <Link
        to={to}
        search={search}
        className={classes.tileValue}
        data-alarm={alarm || undefined}
        aria-label={`${label}: ${value}`}
      >
        {value}
      </Link>
      {note && <span className={classes.tileNote}>{note}</span>}
    </div>
  );
}
