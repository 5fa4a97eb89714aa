/** A cron expression taken apart, so that the form can explain the field under the cursor. */

export const CRON_FIELDS = ['second', 'minute', 'hour', 'day', 'month', 'weekday'] as const;
export type CronField = (typeof CRON_FIELDS)[number];

export interface CronPart {
  field: CronField;
  text: string;
  from: number;
  to: number;
}

/** The fields of an expression with their places; none for macros and what has another number of fields. */
export function cronParts(expression: string): CronPart[] {
  const zone = /^\s*(?:CRON_)?TZ=\S+\s*/.exec(expression)?.[0].length ?? 0;
  const words = [...expression.slice(zone).matchAll(/\S+/g)];
  if (words.length !== 5 && words.length !== 6) return [];
  const fields = words.length === 6 ? CRON_FIELDS : CRON_FIELDS.slice(1);
  return words.map((word, index) => {
    const from = zone + word.index;
    return { field: fields[index]!, text: word[0], from, to: from + word[0].length };
  });
}

/** The part under the cursor; in the space after a part it is that part. */
export function partAt(parts: readonly CronPart[], caret: number): CronPart | undefined {
  return parts.findLast((part) => part.from <= caret) ?? parts[0];
}

/** What a part is: everything, steps, a range, a list, a value, or one of the letters. */
export type CronForm =
  | 'every'
  | 'step'
  | 'rangeStep'
  | 'range'
  | 'list'
  | 'last'
  | 'nth'
  | 'near'
  | 'value';

export interface CronReading {
  form: CronForm;
  a: string;
  b: string;
  step: string;
}

export function readPart(text: string): CronReading {
  const reading = (form: CronForm, a = '', b = '', step = ''): CronReading => ({
    form,
    a,
    b,
    step,
  });
  if (text === '*' || text === '?') return reading('every');
  if (text.includes(',')) return reading('list', text.split(',').join(', '));
  const [head = '', step] = text.split('/');
  const [a = '', b] = head.split('-');
  if (step !== undefined) {
    if (head === '*') return reading('step', '', '', step);
    return reading('rangeStep', a, b ?? '', step);
  }
  if (b !== undefined) return reading('range', a, b);
  const nth = /^(\w+)#(\d)$/.exec(text);
  if (nth) return reading('nth', nth[1], nth[2]);
  if (/W$/i.test(text)) return reading('near', text.slice(0, -1));
  if (/L$/i.test(text)) return reading('last', text.slice(0, -1));
  return reading('value', text);
}

/** The field that a message of the server names: `minute: 61 is not from 0 to 59`. */
export function namedField(message: string | undefined): CronField | undefined {
  const name = /^(second|minute|hour|day of month|month|day of week):/.exec(message ?? '')?.[1];
  if (name === 'day of month') return 'day';
  return name === 'day of week' ? 'weekday' : (name as CronField | undefined);
}

export const TEMPLATES = [
  { name: 'every5', expression: '*/5 * * * *' },
  { name: 'hourly', expression: '0 * * * *' },
  { name: 'midnight', expression: '0 0 * * *' },
  { name: 'monday', expression: '0 9 * * MON' },
] as const;

/** The template that an expression is; else it is a custom one. */
export function templateOf(expression: string): string {
  const plain = expression.trim().replace(/\s+/g, ' ').toUpperCase();
  return TEMPLATES.find((each) => each.expression === plain)?.name ?? 'custom';
}
