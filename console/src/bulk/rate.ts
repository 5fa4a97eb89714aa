/** How many things a second a job takes, and how long that is. */

export const DEFAULT_RATE = 50;
export const LEAST_RATE = 1;
export const MOST_RATE = 10_000;

export const isRate = (rate: number) =>
  Number.isInteger(rate) && rate >= LEAST_RATE && rate <= MOST_RATE;

/** Milliseconds for so many, at a rate. */
export function durationOf(count: number, rate: number): number | undefined {
  return rate >= LEAST_RATE ? (count / rate) * 1_000 : undefined;
}
