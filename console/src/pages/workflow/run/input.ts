/** The text of an execution's input: an example made of what the definition reads, and what is wrong with it. */
import { jsonLanguage } from '@codemirror/lang-json';
import { stringifyExact } from '@/api/exact';

const REFERENCE = /\$\{\s*input((?:\.[A-Za-z_][\w-]*|\[\d+\]|\["[^"]+"\]|\['[^']+'\])+)/g;
const PART = /\.([A-Za-z_][\w-]*)|\[(\d+)\]|\["([^"]+)"\]|\['([^']+)'\]/g;

/** A guess at a value by the name of its field. */
function guess(name: string): unknown {
  if (/(^|_)(id|number|count|amount|width|height|size)$/i.test(name)) return 1;
  if (/url|link/i.test(name)) return 'https://example.com/';
  if (/mail/i.test(name)) return 'anna@example.com';
  if (/^(is|has|include)_|enabled|urgent/i.test(name)) return true;
  return 'text';
}

type Node = Record<string, unknown>;

/** An input with every field that the definition refers to. */
export function exampleInput(definition: unknown): string {
  const root: Node = {};
  for (const [, path] of stringifyExact(definition).replaceAll('\\"', '"').matchAll(REFERENCE)) {
    const parts = [...path!.matchAll(PART)].map((part) => part[1] ?? part[3] ?? part[4] ?? '');
    // A number in brackets is an entry of a list: the list itself is enough of an example.
    const names = parts.slice(0, parts.includes('') ? parts.indexOf('') : undefined);
    let at = root;
    for (const [index, name] of names.entries()) {
      const last = index === names.length - 1;
      if (last) at[name] ??= parts.includes('') ? [] : guess(name);
      else {
        if (typeof at[name] !== 'object' || at[name] === null || Array.isArray(at[name]))
          at[name] = {};
        at = at[name] as Node;
      }
    }
  }
  return JSON.stringify(root, null, 2);
}

export interface InputProblem {
  line: number;
  column: number;
  message: string;
}

/** In a longer text the place is not looked for. */
const SEARCHED = 1_000_000;

/** The first place that the parser of the editor cannot read. */
function wrongPlace(text: string): number {
  if (text.length > SEARCHED) return 0;
  let at = text.length;
  jsonLanguage.parser.parse(text).iterate({
    enter: (node) => {
      if (node.type.isError) at = Math.min(at, node.from);
    },
  });
  return at;
}

/** Where a text stops being JSON; nothing if it is JSON, or empty (which is `{}`). */
export function inputProblem(text: string): InputProblem | undefined {
  if (text.trim() === '') return undefined;
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const before = text.slice(0, wrongPlace(text)).split('\n');
    const message = error instanceof Error ? error.message : String(error);
    return { line: before.length, column: before.at(-1)!.length + 1, message };
  }
}
