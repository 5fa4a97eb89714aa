/** An instant: how long ago or until, or the full time; hover shows offset and UTC. */
import { Tooltip } from '@mantine/core';
import { useNow } from '@/live/clock';
import { useSettings } from '@/settings/settings';
import { formatCountdown, formatFull, formatInstant, formatRelative } from '@/time/format';
import { zoneName } from '@/time/zone';
import classes from './time.module.css';

interface TimeProps {
  at: string | number | null | undefined;
  /** `relative` (lists), `full` (details), `clock` (only today's time). */
  as?: 'relative' | 'full' | 'clock';
  /** Another zone to show on hover, such as a trigger's. */
  zone?: string;
}

function instant(at: string | number): number {
  return typeof at === 'number' ? at : Date.parse(at);
}

export function Time({ at, as = 'relative', zone }: TimeProps) {
  if (at === null || at === undefined || at === '') return <span className={classes.none}>–</span>;
  const ms = instant(at);
  if (Number.isNaN(ms)) return <span>{String(at)}</span>;
  return (
    <Tooltip label={<Hover ms={ms} zone={zone} />}>
      <time dateTime={new Date(ms).toISOString()} className={classes.time}>
        {as === 'relative' ? <Relative ms={ms} /> : <Absolute ms={ms} clock={as === 'clock'} />}
      </time>
    </Tooltip>
  );
}

function Relative({ ms }: { ms: number }) {
  return <>{formatRelative(ms, useNow())}</>;
}

function Absolute({ ms, clock }: { ms: number; clock: boolean }) {
  const text = formatInstant(ms, zoneName(useSettings().zone));
  return <>{clock ? text.slice(11) : text}</>;
}

function Hover({ ms, zone }: { ms: number; zone?: string }) {
  const now = useNow();
  const here = zoneName(useSettings().zone);
  const zones = [...new Set([here, ...(zone ? [zone] : []), 'UTC'])];
  return (
    <span className={classes.hover}>
      {zones.map((name) => (
        <span key={name}>
          {formatFull(ms, name)} <small>{name}</small>
        </span>
      ))}
      <span>{formatRelative(ms, now)}</span>
    </span>
  );
}

/** What is left until an instant, by the server's clock: `0:06`. */
export function Countdown({ to }: { to: string }) {
  const now = useNow();
  return <span className={classes.countdown}>{formatCountdown(Date.parse(to) - now)}</span>;
}
