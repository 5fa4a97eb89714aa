/** Days of the week as settings write them: `MON-FRI`, `[MON, 3]`, `monday`. */

/** Monday first, as the form shows them. */
export const WEEKDAYS = ['MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'] as const;

/** By number, 0 and 7 are Sunday. */
const BY_NUMBER = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', 'SUN'];

function dayOf(text: string): number | undefined {
  const name = /^[0-7]$/.test(text) ? BY_NUMBER[Number(text)] : text.slice(0, 3).toUpperCase();
  const at = WEEKDAYS.indexOf(name as (typeof WEEKDAYS)[number]);
  const whole = /^([0-7]|[a-z]{3}|(mon|tues|wednes|thurs|fri|satur|sun)day)$/i.test(text);
  return at >= 0 && whole ? at : undefined;
}

function daysOf(part: string): number[] | undefined {
  const [from, to, ...more] = part.split('-').map((side) => dayOf(side.trim()));
  if (from === undefined || more.length > 0) return undefined;
  if (!part.includes('-')) return [from];
  if (to === undefined) return undefined;
  const count = ((to - from + 7) % 7) + 1;
  return Array.from({ length: count }, (_, step) => (from + step) % 7);
}

/** The days in order, Monday first; nothing when one of them cannot be read. */
export function readDays(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  const found = new Set<number>();
  for (const each of Array.isArray(value) ? value : [value])
    for (const part of String(each).split(',')) {
      const days = daysOf(part.trim());
      if (!days) return undefined;
      for (const day of days) found.add(day);
    }
  return WEEKDAYS.filter((_, index) => found.has(index));
}

/** `MON-FRI` for three or more in a row, else the day or a list of days. */
export function daysText(days: readonly string[]): string | string[] {
  const ordered = WEEKDAYS.filter((day) => days.includes(day));
  const first = ordered[0];
  if (first === undefined) return [];
  const start = WEEKDAYS.indexOf(first);
  const inRow = ordered.every((day, index) => WEEKDAYS.indexOf(day) === start + index);
  if (inRow && ordered.length >= 3) return `${first}-${ordered.at(-1)}`;
  return ordered.length === 1 ? first : [...ordered];
}
