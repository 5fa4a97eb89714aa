/** A range of time in words. */
import { t } from '@/i18n/t';
import { formatInstant } from '@/time/format';
import { relativeMs } from '@/time/range';

/** `last 24 h`. */
export function relativeWords(text: string): string {
  const [, count = '', unit = ''] = /^-(\d+)([mhdw])$/.exec(text) ?? [];
  const keys = {
    m: 'common.lastMinutes',
    h: 'common.lastHours',
    d: 'common.lastDays',
    w: 'common.lastWeeks',
  } as const;
  return t(keys[unit as keyof typeof keys], { count: Number(count) });
}

export function rangeWords(from: string | undefined, to: string | undefined): string {
  if (!from && !to) return t('common.allTime');
  if (from && !to && relativeMs(from) !== undefined) return relativeWords(from);
  const words = (text: string | undefined) =>
    text === undefined
      ? '…'
      : relativeMs(text) !== undefined
        ? relativeWords(text)
        : formatInstant(Date.parse(text)).slice(0, 16);
  return `${words(from)} – ${words(to)}`;
}
