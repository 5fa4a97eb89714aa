/** What can be done with a target now. */
import type { Target, TargetAct } from '@/api/queries/targets';

export const ACTS: readonly TargetAct[] = ['probe', 'open', 'close', 'reset'];

/** Whether an action changes anything for a target as it stands. */
export function isAble(target: Pick<Target, 'state' | 'forced'>, act: TargetAct): boolean {
  if (act === 'probe') return target.state === 'open';
  if (act === 'open') return target.forced !== 'open';
  if (act === 'close') return target.forced !== 'closed';
  return !!target.forced || target.state !== 'closed';
}

/** How many of a hundred calls failed; nothing where none was made. */
export function failedShare({ calls, failed }: Target['window']): number | undefined {
  return calls === 0 ? undefined : Math.round((failed / calls) * 100);
}
