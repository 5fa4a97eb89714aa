/** Instants and durations as text. */
import { language } from '@/i18n/t';
import { offsetText, wallTime, zoneName } from './zone';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** `2026-11-18 09:30:45` in the chosen zone; with `ms` also the milliseconds. */
export function formatInstant(at: number, zone = zoneName(), ms = false): string {
  const w = wallTime(at, zone);
  const rest = ms ? `.${String(((at % 1000) + 1000) % 1000).padStart(3, '0')}` : '';
  return `${w.year}-${w.month}-${w.day} ${w.hour}:${w.minute}:${w.second}${rest}`;
}

/** With the offset: `2026-11-18 09:30:45 +08:00`. */
export function formatFull(at: number, zone = zoneName()): string {
  return `${formatInstant(at, zone, true)} ${offsetText(at, zone)}`;
}

/** Only the clock: `09:30:45`. */
export function formatClock(at: number, zone = zoneName(), ms = false): string {
  return formatInstant(at, zone, ms).slice(11);
}

const relatives: Record<string, Intl.RelativeTimeFormat> = {};

/** `12 min. ago`, `in 6 sec.`: how far an instant is from now. */
export function formatRelative(at: number, now: number): string {
  relatives[language()] ??= new Intl.RelativeTimeFormat(language(), {
    numeric: 'auto',
    style: 'short',
  });
  const format = relatives[language()]!;
  const away = at - now;
  const size = Math.abs(away);
  if (size < 1500) return format.format(0, 'second');
  const [unit, name] =
    size < MINUTE
      ? ([SECOND, 'second'] as const)
      : size < HOUR
        ? ([MINUTE, 'minute'] as const)
        : size < DAY
          ? ([HOUR, 'hour'] as const)
          : ([DAY, 'day'] as const);
  return format.format(Math.trunc(away / unit), name);
}

/** `812 ms`, `14.2 s`, `4m 10s`, `3h 05m`, `2d 4h`. */
export function formatDuration(ms: number): string {
  const size = Math.max(0, Math.abs(ms));
  const sign = ms < 0 ? '−' : '';
  if (size < SECOND) return `${sign}${Math.round(size)} ms`;
  if (size < 10 * SECOND) return `${sign}${(Math.floor(size / 100) / 10).toFixed(1)} s`;
  if (size < MINUTE) return `${sign}${Math.floor(size / SECOND)} s`;
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  if (size < HOUR) return `${sign}${Math.floor(size / MINUTE)}m ${two((size % MINUTE) / SECOND)}s`;
  if (size < DAY) return `${sign}${Math.floor(size / HOUR)}h ${two((size % HOUR) / MINUTE)}m`;
  return `${sign}${Math.floor(size / DAY)}d ${Math.floor((size % DAY) / HOUR)}h`;
}

/** `0:06`, `1:02:10`: what is left until an instant, never below zero. */
export function formatCountdown(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / SECOND));
  const two = (value: number) => String(value).padStart(2, '0');
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  return hours > 0
    ? `${hours}:${two(minutes)}:${two(seconds % 60)}`
    : `${minutes}:${two(seconds % 60)}`;
}

/** `12 kB`, for bodies and files. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1_000_000
    ? `${(bytes / 1000).toFixed(1)} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
