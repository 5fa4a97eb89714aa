/**
 * Small edits of a definition's text: one value is set or removed, and everything else, comments
 * included, stays as it was written.
 */
import { isJson, readYaml, type YamlEntry, type YamlMap, type YamlNode } from './yaml';

interface Splice {
  from: number;
  to: number;
  text: string;
}

/** Texts that YAML would read as something else, or that need quotes. */
const PLAIN = /^[A-Za-z_][\w./%-]*$|^\d+(\.\d+)?(ms|s|m|h|d|w)$|^[1-5]xx$|^\d{3}-\d{3}$/;
const WORD = /^(true|false|null|yes|no|on|off|y|n)$/i;

/** A value in flow style, as it may stand anywhere. */
export function flowText(value: unknown, json: boolean): string {
  if (json) return JSON.stringify(value);
  if (typeof value === 'string')
    return PLAIN.test(value) && !WORD.test(value) ? value : JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((each) => flowText(each, json)).join(', ')}]`;
  if (typeof value === 'object' && value !== null)
    return `{ ${Object.entries(value)
      .map(([key, inner]) => `${key}: ${flowText(inner, json)}`)
      .join(', ')} }`;
  return String(value);
}

const lineStart = (source: string, at: number) => source.lastIndexOf('\n', at - 1) + 1;
const lineEnd = (source: string, at: number) => {
  const end = source.indexOf('\n', at);
  return end < 0 ? source.length : end;
};
const indentAt = (source: string, at: number) => ' '.repeat(at - lineStart(source, at));

/** `maxRetries` and `max_retries` are the same key. */
const sameKey = (a: string, b: string) =>
  a.replace(/_(\w)/g, (_, c: string) => c.toUpperCase()) === b;

export const findEntry = (map: YamlMap, key: string): YamlEntry | undefined =>
  map.entries.find((entry) => sameKey(entry.key, key));

const nested = (keys: readonly string[], value: unknown): unknown =>
  keys.reduceRight((inner, key) => ({ [key]: inner }), value);

/** What a short form (`retry: 3`, `retry: false`) says, as a mapping; nothing when it says nothing. */
export type ReadShort = (scalar: YamlNode | null) => Record<string, unknown>;

function replaced(entry: YamlEntry, text: string): Splice {
  const { value } = entry;
  if (value && (value.kind === 'scalar' || value.flow))
    return { from: value.from, to: value.to, text };
  return { from: entry.keyTo, to: Math.max(entry.keyTo + 1, entry.to), text: `: ${text}` };
}

function insertedInFlow(
  source: string,
  map: YamlMap,
  key: string,
  text: string,
  json: boolean,
): Splice {
  const written = `${json ? JSON.stringify(key) : key}: ${text}`;
  const last = map.entries.at(-1);
  if (!last) return { from: map.from, to: map.to, text: `{ ${written} }` };
  const first = map.entries[0]!;
  const apart = source.slice(map.from, first.from).includes('\n');
  const space = apart ? `\n${indentAt(source, first.from)}` : ' ';
  return { from: last.to, to: last.to, text: `,${space}${written}` };
}

/** Before a key, above the comments that belong to it. */
function above(source: string, entry: YamlEntry): number {
  let at = lineStart(source, entry.from);
  while (at > 0) {
    const before = lineStart(source, at - 1);
    if (!source.slice(before, at).trimStart().startsWith('#')) break;
    at = before;
  }
  return at;
}

function insertedInBlock(
  source: string,
  map: YamlMap,
  key: string,
  value: unknown,
  before?: string,
): Splice {
  const first = map.entries[0]!;
  const indent = indentAt(source, first.from);
  const block =
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value)
          .map(([name, inner]) => `\n${indent}  ${name}: ${flowText(inner, false)}`)
          .join('')
      : ` ${flowText(value, false)}`;
  const written = `${indent}${key}:${block}`;
  const follower = before && findEntry(map, before);
  if (follower && follower !== first) {
    const at = above(source, follower);
    return { from: at, to: at, text: `${written}\n` };
  }
  const end = lineEnd(source, map.entries.at(-1)!.to);
  return { from: end, to: end, text: `\n${written}` };
}

function removed(source: string, map: YamlMap, entry: YamlEntry): Splice {
  const at = map.entries.indexOf(entry);
  const next = map.entries[at + 1];
  const before = map.entries[at - 1];
  if (map.flow) {
    if (next) return { from: entry.from, to: next.from, text: '' };
    return { from: before ? before.to : entry.from, to: entry.to, text: '' };
  }
  const end = lineEnd(source, entry.to);
  return { from: lineStart(source, entry.from), to: Math.min(source.length, end + 1), text: '' };
}

function splice(
  source: string,
  path: readonly string[],
  value: unknown,
  short: ReadShort,
): Splice | undefined {
  const root = readYaml(source);
  const json = isJson(source);
  if (root?.kind !== 'map') return undefined;
  let map: YamlMap = root;
  const trail: { map: YamlMap; entry: YamlEntry }[] = [];
  for (const [depth, key] of path.entries()) {
    const rest = path.slice(depth + 1);
    const entry = findEntry(map, key);
    if (!entry) {
      if (value === undefined) return undefined;
      const inner = nested(rest, value);
      if (map.flow) return insertedInFlow(source, map, key, flowText(inner, json), json);
      return insertedInBlock(source, map, key, inner, depth === 0 ? 'steps' : undefined);
    }
    trail.push({ map, entry });
    if (rest.length === 0) {
      if (value !== undefined) return replaced(entry, flowText(value, json));
      // A mapping that would be empty goes with its last key.
      let from = trail.length - 1;
      while (from > 0 && trail[from]!.map.entries.length === 1) from -= 1;
      return removed(source, trail[from]!.map, trail[from]!.entry);
    }
    if (entry.value?.kind !== 'map') {
      const inner = { ...short(entry.value), ...(nested(rest, value) as object) };
      return replaced(entry, flowText(inner, json));
    }
    map = entry.value;
  }
  return undefined;
}

/** The text with the value at `path` set, or removed when it is undefined. */
export function setAt(
  source: string,
  path: readonly string[],
  value: unknown,
  short: ReadShort = () => ({}),
): string {
  const change = splice(source, path, value, short);
  if (!change) return source;
  return source.slice(0, change.from) + change.text + source.slice(change.to);
}
