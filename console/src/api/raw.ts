/**
 * Where values stand in a JSON text. Some of what the server tells are places in a text (bytes of a step's
 * output), and a text that was read into values cannot be asked for places any more.
 */

/** Behind the closing quote of the string that begins at `at`. No expression: those fail on very long strings. */
export function stringEnd(text: string, at: number): number {
  for (let end = text.indexOf('"', at + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text[end - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return end + 1;
  }
  return text.length;
}

const OUTSIDE = /["{}[\]]/g;
const AFTER = /[\s,\]}]/g;
const WORD = /\S/g;

function next(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}

/** Behind the value that begins at `at`. */
function valueEnd(text: string, at: number): number {
  if (text[at] === '"') return stringEnd(text, at);
  if (text[at] !== '{' && text[at] !== '[') return next(AFTER, text, at);
  let depth = 0;
  let place = at;
  do {
    place = next(OUTSIDE, text, place);
    const sign = text[place];
    if (sign === undefined) return text.length;
    if (sign === '"') place = stringEnd(text, place);
    else {
      depth += sign === '{' || sign === '[' ? 1 : -1;
      place += 1;
    }
  } while (depth > 0);
  return place;
}

/** The texts of an object's members, by name. */
export function members(object: string): Map<string, string> {
  const found = new Map<string, string>();
  let at = next(WORD, object, 1);
  while (object[at] === '"') {
    const keyEnd = stringEnd(object, at);
    const from = next(WORD, object, object.indexOf(':', keyEnd) + 1);
    const to = valueEnd(object, from);
    found.set(JSON.parse(object.slice(at, keyEnd)), object.slice(from, to));
    at = next(WORD, object, to);
    if (object[at] === ',') at = next(WORD, object, at + 1);
  }
  return found;
}

/** The texts of a list's items. */
export function items(list: string): string[] {
  const found: string[] = [];
  let at = next(WORD, list, 1);
  while (at < list.length && list[at] !== ']') {
    const to = valueEnd(list, at);
    found.push(list.slice(at, to));
    at = next(WORD, list, to);
    if (list[at] === ',') at = next(WORD, list, at + 1);
  }
  return found;
}

/** A function that cuts bytes out of a text. */
export function byteSlices(text: string): (from: number, length: number) => string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length === text.length) return (from, length) => text.slice(from, from + length);
  const decoder = new TextDecoder();
  return (from, length) => decoder.decode(bytes.subarray(from, from + length));
}
