/** The log of an execution: its events, and the values that steps gave names to in the context. */
import { queryOptions } from '@tanstack/react-query';
import { answerWithText, api } from '../client';
import { parseExact } from '../exact';
import { byteSlices, items, members } from '../raw';
import type { Event } from '../types';
import { executionKeys } from './executions';

const EVENTS_PAGE = 1_000;
/** More events than this are not read by the page; the log can be downloaded. */
const MOST_EVENTS = 20_000;

export interface Log {
  events: Event[];
  /** By the number of the event: what its step's `outputMapping` put into the context. */
  named: Record<number, Record<string, unknown>>;
}

/** The whole log, oldest first, up to a bound. */
export function logQuery(id: string) {
  return queryOptions({
    queryKey: [...executionKeys.one(id), 'events'],
    queryFn: async ({ signal }) => {
      const log: Log = { events: [], named: {} };
      const answers = new Map<number, string>();
      let cursor: string | undefined;
      do {
        const { value, text } = await answerWithText(
          api.GET('/api/executions/{id}/events', {
            params: { path: { id }, query: { limit: EVENTS_PAGE, cursor } },
            signal,
          }),
        );
        log.events.push(...value.items);
        Object.assign(log.named, namesIn(text, value.items, answers));
        cursor = value.next_cursor ?? undefined;
      } while (cursor && log.events.length < MOST_EVENTS);
      return log;
    },
    // Logs only grow, and comparing a long one costs more than drawing it.
    structuralSharing: (before, after) => {
      const [old, now] = [before as Log | undefined, after as Log];
      return old?.events.length === now.events.length ? old : now;
    },
  });
}

/** A place in the output of the step, as the log has it. */
type Mapped = 'nothing' | { one: [number, number] } | { many: [number, number][] };
interface Payload {
  mapped?: [string, Mapped][];
  /** The event that has the answer which is the output. */
  answer?: unknown;
}

/** The named values of a page of the log; `answers` are answers of this page and those before, by event. */
export function namesIn(
  text: string,
  events: readonly Event[],
  answers: Map<number, string>,
): Log['named'] {
  if (!text.includes('"mapped":')) return {};
  const raw = items(members(text).get('items') ?? '[]');
  const named: Log['named'] = {};
  for (const [index, event] of events.entries()) {
    const payload = (event.payload ?? {}) as Payload;
    if (event.event_type === 'STEP_STARTED' && payload.answer !== undefined)
      answers.set(event.sequence, payloadOf(raw[index]).get('answer') ?? '');
    if (!payload.mapped) continue;
    const output = payloadOf(raw[index]).get('output') ?? answers.get(Number(payload.answer));
    if (output) named[event.sequence] = valuesOf(output, payload.mapped);
  }
  return named;
}

const payloadOf = (event = '{}') => members(members(event).get('payload') ?? '{}');

function valuesOf(output: string, mapped: [string, Mapped][]): Record<string, unknown> {
  const slice = byteSlices(output);
  const read = ([from, length]: [number, number]) => parseExact(slice(from, length));
  return Object.fromEntries(
    mapped.map(([name, place]) => {
      if (place === 'nothing') return [name, null];
      return [name, 'one' in place ? read(place.one) : place.many.map(read)];
    }),
  );
}
