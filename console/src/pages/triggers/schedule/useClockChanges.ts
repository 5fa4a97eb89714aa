/** What the next changes of the clock do to planned times: looked for around each change within a year. */
import { useQuery } from '@tanstack/react-query';
import { type PreviewedSlot, previewSchedule, type TriggerSettings } from '@/api/queries/triggers';
import { serverNow } from '@/live/clock';
import { isZone, offsetMinutes } from '@/time/zone';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Planned times that are looked at around a change. */
const AROUND = 12;
const BEFORE_MS = 6 * HOUR;

/** The instants within a year at which the zone's offset changes, to the hour. */
export function clockChanges(zone: string, from: number): number[] {
  if (!isZone(zone)) return [];
  const changes: number[] = [];
  let last = offsetMinutes(from, zone);
  for (let day = from; day < from + 366 * DAY; day += DAY) {
    const next = offsetMinutes(day + DAY, zone);
    if (next !== last) {
      let at = day;
      while (at < day + DAY && offsetMinutes(at, zone) === last) at += HOUR;
      changes.push(at);
    }
    last = next;
  }
  return changes;
}

/** Planned times that a change of the clock moves or repeats; none where it has no effect. */
export function useClockChanges(settings: TriggerSettings, zone: string, matters: boolean) {
  const today = Math.floor(serverNow() / DAY) * DAY;
  return (
    useQuery({
      queryKey: ['schedule-clock', settings, zone, today],
      queryFn: async ({ signal }): Promise<PreviewedSlot[]> => {
        const around = clockChanges(zone, today).map((at) =>
          new Date(at - BEFORE_MS).toISOString(),
        );
        const plans = await Promise.all(
          around.map((from) => previewSchedule(settings, AROUND, from, signal)),
        );
        return plans.flatMap((plan) => plan.next.filter((slot) => slot.note));
      },
      enabled: matters,
      staleTime: HOUR,
      retry: false,
    }).data ?? []
  );
}
