/** Which events of a log are shown. */
import { stringifyExact } from '@/api/exact';
import type { Event } from '@/api/types';

export interface Wanted {
  type?: string;
  step?: string;
  attempt?: string;
  text: string;
}

export function filterEvents(events: readonly Event[], wanted: Wanted): Event[] {
  const text = wanted.text.trim().toLowerCase();
  return events.filter(
    (event) =>
      (!wanted.type || event.event_type === wanted.type) &&
      (!wanted.step || event.step_id === wanted.step) &&
      (!wanted.attempt || String(event.attempt_number) === wanted.attempt) &&
      (!text || stringifyExact(event).toLowerCase().includes(text)),
  );
}
