/** What the overview computes: shares, their words, and the order of outcomes. */
import { formatNumber } from '@/i18n/t';

export const RANGES = ['1h', '24h', '7d', '30d'] as const;
export type RangeName = (typeof RANGES)[number];

export function rangeOf(text: string | undefined): RangeName {
  return RANGES.find((each) => each === text) ?? '24h';
}

/** `99.72 %`: two digits, and never 100 where something failed. A share is 0 to 1, or already a percentage. */
export function percent(share: number | null | undefined): string {
  if (share === null || share === undefined || Number.isNaN(share)) return '–';
  const value = share > 1 ? share : share * 100;
  const digits = value > 99 && value < 100 ? 2 : value === 100 || value === 0 ? 0 : 1;
  const factor = 10 ** digits;
  return `${formatNumber(Math.floor(value * factor) / factor, digits)} %`;
}

const ORDER = [
  'completed',
  'failed',
  'dlq',
  'cancelled',
  'retrying',
  'running',
  'waiting',
  'paused',
  'pending',
];

export interface Outcome {
  status: string;
  count: number;
  /** Of all, in percent. */
  share: number;
}

/** Outcomes in a fixed order, so that the bar does not jump; what nobody has is left out. */
export function outcomesOf(byStatus: Record<string, number>): Outcome[] {
  const total = Object.values(byStatus).reduce((sum, count) => sum + count, 0);
  const known = ORDER.filter((status) => status in byStatus);
  const others = Object.keys(byStatus).filter((status) => !ORDER.includes(status));
  return [...known, ...others]
    .map((status) => ({
      status,
      count: byStatus[status] ?? 0,
      share: total ? ((byStatus[status] ?? 0) / total) * 100 : 0,
    }))
    .filter((outcome) => outcome.count > 0);
}
