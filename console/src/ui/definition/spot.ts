/** Where the cursor of an editor stands in a definition: the keys above it, and what is being typed. */

export interface Spot {
  /** Keys from the top; `[]` is an entry of a list. */
  path: string[];
  /** Whether a key or a value is typed here. */
  kind: 'key' | 'value';
  /** What is typed so far, and where it begins. */
  typed: string;
  from: number;
}

interface Line {
  /** Columns of the dashes before the key. */
  dashes: number[];
  /** Column of the key or text. */
  column: number;
  key?: string;
  /** What stands after the key's colon. */
  rest: string;
}

const KEY = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s#"'[\]{},:-][^:#]*?))\s*:(?=\s|$)/;

function readLine(text: string): Line {
  const dashes: number[] = [];
  let column = text.search(/\S|$/);
  while (/^-(\s|$)/.test(text.slice(column))) {
    dashes.push(column);
    column += 1;
    while (text[column] === ' ') column += 1;
  }
  const content = text.slice(column);
  const found = KEY.exec(content);
  return {
    dashes,
    column,
    key: found ? (found[1] ?? found[2] ?? found[3]) : undefined,
    rest: found ? content.slice(found[0].length) : content,
  };
}

/** The keys that lines above a line give it, by their indentation. */
function keysAbove(lines: string[], line: Line): string[] {
  const path: string[] = [];
  let column = line.column;
  let inList = false;
  const enter = (dashes: number[]) => {
    for (const dash of dashes.toReversed()) {
      path.unshift('[]');
      column = dash;
      inList = true;
    }
  };
  enter(line.dashes);
  for (const text of lines.toReversed()) {
    if (text.trim() === '' || text.trimStart().startsWith('#')) continue;
    const above = readLine(text);
    const parent =
      above.column < column || (inList && above.column <= column && above.dashes.length === 0);
    if (parent && above.key !== undefined && above.rest.replace(/#.*/, '').trim() === '') {
      path.unshift(above.key);
      column = above.column;
      inList = false;
      enter(above.dashes);
    } else if (above.dashes.length > 0 && above.column === column && !inList) enter(above.dashes);
    if (column === 0 && !inList) break;
  }
  return path;
}

interface Frame {
  list: boolean;
  /** The key whose value comes, in a mapping. */
  key?: string;
  /** Where the present key or value began. */
  start: number;
}

/** Walks through `{…}` and `[…]` up to the end of a text. */
function flowFrames(text: string): Frame[] {
  const frames: Frame[] = [];
  const token = /"(?:[^"\\]|\\.)*"?|'[^']*'?|[{}[\],:]/g;
  const named = (from: number, to: number) =>
    text
      .slice(from, to)
      .trim()
      .replace(/^["']|["']$/g, '');
  for (const found of text.matchAll(token)) {
    const at = found.index + found[0].length;
    const top = frames.at(-1);
    if (found[0] === '{' || found[0] === '[') frames.push({ list: found[0] === '[', start: at });
    else if (found[0] === '}' || found[0] === ']') frames.pop();
    else if (found[0] === ',' && top) {
      top.key = undefined;
      top.start = at;
    } else if (found[0] === ':' && top && !top.list && /[\s"{[]|$/.test(text[at] ?? ' ')) {
      top.key ??= named(top.start, found.index);
      top.start = at;
    }
  }
  return frames;
}

function spotInFlow(path: string[], text: string, offset: number): Spot {
  const frames = flowFrames(text);
  const keys = [...path];
  for (const [index, frame] of frames.entries()) {
    if (frame.list) keys.push('[]');
    else if (frame.key !== undefined && index < frames.length - 1) keys.push(frame.key);
  }
  const top = frames.at(-1);
  const start = top ? top.start : 0;
  const raw = text.slice(start);
  const typed = raw.trimStart().replace(/^["']/, '');
  const from = offset + text.length - typed.length;
  if (top && !top.list && top.key === undefined) return { path: keys, kind: 'key', typed, from };
  if (top && !top.list && top.key !== undefined) keys.push(top.key);
  return { path: keys, kind: 'value', typed, from };
}

export function spotAt(source: string, position: number): Spot {
  const before = source.slice(0, position);
  if (/^\s*\{/.test(source)) return spotInFlow([], before, 0);
  const lines = before.split('\n');
  const current = lines.pop() ?? '';
  const line = readLine(current);
  const path = keysAbove(lines, line);
  if (line.key === undefined && !/[{[]/.test(line.rest)) {
    const typed = line.rest;
    // In a list of texts, what is typed is a value; it may still become a key.
    return { path, kind: 'key', typed, from: position - typed.length };
  }
  const inner = line.key === undefined ? path : [...path, line.key];
  return spotInFlow(inner, line.rest, position - line.rest.length);
}
