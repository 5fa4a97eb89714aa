/** How long a silence is: a few lengths to choose from. */

const MS = { '1h': 3_600_000, '4h': 14_400_000, '1d': 86_400_000, '7d': 604_800_000 };

export type Length = keyof typeof MS;
export const LENGTHS = Object.keys(MS) as Length[];

export function endOf(length: Length, now: number): string {
  return new Date(now + MS[length]).toISOString();
}
