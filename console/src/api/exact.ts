/**
 * JSON whose numbers survive: one that JavaScript cannot hold exactly (`12345678901234567890`) is kept
 * as its text and written back unchanged.
 */
import { stringEnd } from './raw';

/** A number as it was written. In arithmetic and on the page it acts as its nearest number or its text. */
export class ExactNumber {
  constructor(readonly source: string) {}
  valueOf() {
    return Number(this.source);
  }
  toString() {
    return this.source;
  }
}

const NUMBER_OR_QUOTE = /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Shorter ones are always exact. */
const SUSPECT = /\d{16}|\d\.\d{14}|\.\d{16}|[eE][+-]?\d/;

/** Digits and exponent of a number's text, without the ways of writing the same value. */
function canonical(text: string): string {
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const trimmed = digits.replace(/0+$/, '');
  if (trimmed === '') return '0';
  const power = Number(exponent) - fraction.length + (digits.length - trimmed.length);
  return `${sign}${trimmed}e${power}`;
}

function isExact(text: string): boolean {
  const value = Number(text);
  return Number.isFinite(value) && canonical(text) === canonical(String(value));
}

/** A mark no text of the document contains. */
function markFor(text: string): string {
  let mark = '\uE000n:';
  while (text.includes(mark)) mark = `\uE000${mark}`;
  return mark;
}

/** The text with every number that JavaScript cannot hold as a marked string. */
function markNumbers(text: string, mark: string): string {
  const parts: string[] = [];
  let copied = 0;
  NUMBER_OR_QUOTE.lastIndex = 0;
  for (let found = NUMBER_OR_QUOTE.exec(text); found; found = NUMBER_OR_QUOTE.exec(text)) {
    const [token] = found;
    if (token === '"') NUMBER_OR_QUOTE.lastIndex = stringEnd(text, found.index);
    else if (!isExact(token)) {
      parts.push(text.slice(copied, found.index), `"${mark}${token}"`);
      copied = found.index + token.length;
    }
  }
  return copied === 0 ? text : parts.join('') + text.slice(copied);
}

export function parseExact(text: string): unknown {
  if (!SUSPECT.test(text)) return JSON.parse(text);
  // What is no JSON is refused before the tokens are looked at.
  const plain = JSON.parse(text);
  const mark = markFor(text);
  const marked = markNumbers(text, mark);
  if (marked === text) return plain;
  return JSON.parse(marked, (_, value) =>
    typeof value === 'string' && value.startsWith(mark)
      ? new ExactNumber(value.slice(mark.length))
      : value,
  );
}

function holdsExact(value: unknown): boolean {
  if (value instanceof ExactNumber) return true;
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(holdsExact);
}

export function stringifyExact(value: unknown, indent?: number): string {
  if (!holdsExact(value)) return JSON.stringify(value, null, indent) ?? 'null';
  const mark = markFor(JSON.stringify(value));
  const text = JSON.stringify(
    value,
    (_, inner) => (inner instanceof ExactNumber ? `${mark}${inner.source}` : inner),
    indent,
  );
  return text.replace(new RegExp(`"${mark}(-?\\d[\\d.eE+-]*)"`, 'g'), '$1');
}
