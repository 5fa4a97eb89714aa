/** The zone all times are shown in, and its offsets. Zones come from Intl, none are carried along. */
import { settings } from '@/settings/settings';

export const browserZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

/** The IANA name of a chosen zone: `utc`, `browser` or a name. */
export function zoneName(chosen: string = settings().zone): string {
  if (chosen === 'utc') return 'UTC';
  return chosen === 'browser' ? browserZone() : chosen;
}

export function isZone(name: string): boolean {
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const formats = new Map<string, Intl.DateTimeFormat>();

function partsFormat(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formats.set(zone, format);
  }
  return format;
}

export interface WallTime {
  year: string;
  month: string;
  day: string;
  hour: string;
  minute: string;
  second: string;
}

/** What a clock on the wall of the zone shows at an instant. */
export function wallTime(at: number, zone: string): WallTime {
  const parts: Record<string, string> = {};
  for (const part of partsFormat(zone).formatToParts(at)) parts[part.type] = part.value;
  return parts as unknown as WallTime;
}

/** Minutes the zone is ahead of UTC at an instant. */
export function offsetMinutes(at: number, zone: string): number {
  const w = wallTime(at, zone);
  const wall = Date.UTC(+w.year, +w.month - 1, +w.day, +w.hour, +w.minute, +w.second);
  return Math.round((wall - Math.floor(at / 1000) * 1000) / 60_000);
}

const two = (value: number) => String(value).padStart(2, '0');

/** `+08:00`; `Z` for UTC. */
export function offsetText(at: number, zone: string): string {
  if (zone === 'UTC') return 'Z';
  const minutes = offsetMinutes(at, zone);
  const size = Math.abs(minutes);
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** `UTC+8`, for the header. */
export function shortOffset(at: number, zone: string): string {
  const minutes = offsetMinutes(at, zone);
  if (minutes === 0) return 'UTC';
  const size = Math.abs(minutes);
  const rest = size % 60 ? `:${two(size % 60)}` : '';
  return `UTC${minutes < 0 ? '−' : '+'}${Math.floor(size / 60)}${rest}`;
}

/** The instant at which a clock in the zone shows a local time `2026-11-18T09:30`. */
export function instantOf(local: string, zone: string): number {
  const [date = '', time = '00:00'] = local.split('T');
  const [year = 0, month = 1, day = 1] = date.split('-').map(Number);
  const [hour = 0, minute = 0, second = 0] = time.split(':').map(Number);
  const guess = Date.UTC(year, month - 1, day, hour, minute, second);
  const first = guess - offsetMinutes(guess, zone) * 60_000;
  return guess - offsetMinutes(first, zone) * 60_000;
}

/** The local time of an instant as a date-time input wants it. */
export function localInput(at: number, zone: string): string {
  const w = wallTime(at, zone);
  return `${w.year}-${w.month}-${w.day}T${w.hour}:${w.minute}`;
}
