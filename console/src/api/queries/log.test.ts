import { describe, expect, it } from 'vitest';
import type { Event } from '../types';
import { namesIn } from './log';

/** A page of a log, as the server writes it: outputs stand in it byte for byte. */
function page(...events: string[]) {
  const text = `{"items":[${events.join(',')}],"next_cursor":null}`;
  return { text, events: (JSON.parse(text) as { items: Event[] }).items };
}

describe('named values', () => {
  it('are cut out of the output by bytes, spaces and numbers as they were written', () => {
    const output = '{ "city":"Zürich", "open" : 12345678901234567890, "tags":["a", "b"]}';
    const bytes = (part: string) => [
      new TextEncoder().encode(output.slice(0, output.indexOf(part))).length,
      new TextEncoder().encode(part).length,
    ];
    const mapped = JSON.stringify([
      ['open', { one: bytes('12345678901234567890') }],
      ['tags', { many: [bytes('"a"'), bytes('"b"')] }],
      ['none', 'nothing'],
    ]);
    const { text, events } = page(
      '{"sequence":1,"event_type":"EXECUTION_STARTED","payload":{"input":{"mapped":[]}}}',
      `{"sequence":2,"event_type":"STEP_COMPLETED","payload":{"output":${output},"mapped":${mapped}}}`,
    );
    const found = namesIn(text, events, new Map())[2]!;
    expect(String(found.open)).toBe('12345678901234567890');
    expect(found).toMatchObject({ tags: ['a', 'b'], none: null });
  });

  it('are found in the answer that an earlier event has', () => {
    const { text, events } = page(
      '{"sequence":3,"event_type":"STEP_STARTED","payload":{"answer":{"n":7}}}',
      '{"sequence":4,"event_type":"STEP_COMPLETED","payload":{"answer":3,"mapped":[["n",{"one":[5,1]}]]}}',
    );
    expect(namesIn(text, events, new Map())).toEqual({ 4: { n: 7 } });
  });
});
