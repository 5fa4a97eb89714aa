/** Filters as text: chips ↔ URL search ↔ what is typed (`status:dlq workflow:crm_* from:-7d`). */
import { isTimeText } from '@/time/range';

interface FieldBase {
  /** The name in the URL, and what is typed before the colon. */
  key: string;
  label: string;
  /** Several values, separated by commas. */
  several?: boolean;
}

export interface ChoiceField extends FieldBase {
  kind: 'choice';
  options: { value: string; label: string }[];
}

export interface TextField extends FieldBase {
  kind: 'text';
  placeholder?: string;
  /** Values to offer. */
  suggest?: () => Promise<string[]>;
  /** Refuses what cannot be meant. */
  valid?: (value: string) => boolean;
}

export type FilterField = ChoiceField | TextField;

export type FilterValue = Record<string, string | undefined>;

export const RANGE_KEYS = ['from', 'to'] as const;

export const split = (value: string | undefined): string[] =>
  (value ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);

/** The values of a field that are allowed; the others are named by `wrong`. */
function allowed(field: FilterField, value: string): { right: string[]; wrong: string[] } {
  const all = field.several ? split(value) : [value.trim()];
  const fits = (each: string) =>
    field.kind === 'choice'
      ? field.options.some((option) => option.value === each)
      : (field.valid?.(each) ?? true);
  return { right: all.filter(fits), wrong: all.filter((each) => !fits(each)) };
}

export interface Checked {
  value: FilterValue;
  /** `status:nonsense`: what was dropped, for the filter bar to name. */
  wrong: string[];
}

/** Takes from a URL's search what the fields allow. `keep` are names the page uses for something else. */
export function checkFilter(
  search: Record<string, unknown>,
  fields: readonly FilterField[],
  keep: readonly string[] = [],
): Checked {
  const value: FilterValue = {};
  const wrong: string[] = [];
  for (const field of fields) {
    const text = search[field.key];
    if (text === undefined || text === null || text === '') continue;
    const found = allowed(field, String(text));
    if (found.right.length) value[field.key] = [...new Set(found.right)].join(',');
    wrong.push(...found.wrong.map((each) => `${field.key}:${each}`));
  }
  for (const key of RANGE_KEYS) {
    const text = search[key];
    if (text === undefined || text === '') continue;
    if (isTimeText(String(text))) value[key] = String(text);
    else wrong.push(`${key}:${String(text)}`);
  }
  for (const key of ['q', ...keep])
    if (search[key] !== undefined && search[key] !== '') value[key] = String(search[key]);
  return { value, wrong };
}

const WORD = /([a-z_]+):("[^"]*"|\S+)|"[^"]*"|\S+/gi;

/** Reads what was typed: `key:value` of known fields become filters, the rest is text to search for. */
export function parseTyped(
  text: string,
  fields: readonly FilterField[],
): { change: FilterValue; rest: string; wrong: string[] } {
  const known = new Map(fields.map((field) => [field.key, field]));
  const change: FilterValue = {};
  const rest: string[] = [];
  const wrong: string[] = [];
  for (const found of text.matchAll(WORD)) {
    const key = found[1]?.toLowerCase();
    const value = (found[2] ?? '').replace(/^"|"$/g, '');
    const field = key === undefined ? undefined : known.get(key);
    if (field) {
      const checked = allowed(field, value);
      const before = field.several ? split(change[field.key]) : [];
      if (checked.right.length)
        change[field.key] = [...new Set([...before, ...checked.right])].join(',');
      wrong.push(...checked.wrong.map((each) => `${field.key}:${each}`));
    } else if (key && (RANGE_KEYS as readonly string[]).includes(key)) {
      if (isTimeText(value)) change[key] = value;
      else wrong.push(`${key}:${value}`);
    } else rest.push(found[0].replace(/^"|"$/g, ''));
  }
  return { change, rest: rest.join(' '), wrong };
}

/** Whether anything narrows the list. */
export function isFiltered(value: FilterValue, fields: readonly FilterField[]): boolean {
  return [...fields.map((field) => field.key), ...RANGE_KEYS, 'q'].some((key) => value[key]);
}

/** The same search without its filters. */
export function clearFilter(value: FilterValue, fields: readonly FilterField[]): FilterValue {
  const cleared = { ...value };
  for (const key of [...fields.map((field) => field.key), ...RANGE_KEYS, 'q']) delete cleared[key];
  return cleared;
}

/** The words of a value: options by their labels. */
export function valueWords(field: FilterField, value: string): string {
  const parts = field.several ? split(value) : [value];
  return parts
    .map((part) =>
      field.kind === 'choice'
        ? (field.options.find((option) => option.value === part)?.label ?? part)
        : part,
    )
    .join(', ');
}

/** All filters in words, for "nothing matches". */
export function filterWords(value: FilterValue, fields: readonly FilterField[]): string {
  const words = fields.flatMap((field) => {
    const text = value[field.key];
    return text ? [`${field.label}: ${valueWords(field, text)}`] : [];
  });
  if (value.from) words.push(`from: ${value.from}`);
  if (value.to) words.push(`to: ${value.to}`);
  if (value.q) words.push(`“${value.q}”`);
  return words.join(' · ');
}
