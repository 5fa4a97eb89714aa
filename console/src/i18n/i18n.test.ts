/** Every key in both languages, none unused, and no text for people outside of them. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { en } from './en';
import { zhTW } from './zh-TW';

const SOURCES = `${join(import.meta.dirname, '..')}/`;

function files(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return path.endsWith('/i18n') ? [] : files(path);
    return /\.tsx?$/.test(path) && !/\.(test|gen|d)\.tsx?$/.test(path) ? [path] : [];
  });
}

const sources = files(SOURCES).map((path) => ({ path, text: readFileSync(path, 'utf8') }));
const all = sources.map((source) => source.text).join('\n');

const places = (message: unknown) =>
  new Set(
    (typeof message === 'string' ? [message] : Object.values(message as object)).flatMap((text) =>
      [...String(text).matchAll(/\{(\w+)\}/g)].map((found) => found[1]),
    ),
  );

describe('texts', () => {
  it('are the same keys in both languages', () => {
    expect(Object.keys(zhTW).sort()).toEqual(Object.keys(en).sort());
  });

  it('have the same places in both languages', () => {
    for (const [key, message] of Object.entries(en)) {
      const other = places((zhTW as Record<string, unknown>)[key]);
      for (const place of other) expect([...places(message)], key).toContain(place);
      for (const place of places(message))
        if (place !== 'count') expect([...other], key).toContain(place);
    }
  });

  it('are all used', () => {
    // `word('status', …)` puts a key together from its beginning.
    const beginnings = [...all.matchAll(/word\(\s*['`]([\w.]+)['`]/g)].map(
      (found) => `${found[1]}.`,
    );
    const unused = Object.keys(en).filter(
      (key) =>
        !all.includes(`'${key}'`) &&
        !all.includes(`\`${key}\``) &&
        !beginnings.some((beginning) => key.startsWith(beginning)),
    );
    expect(unused).toEqual([]);
  });
});

const SPOKEN = /^(label|title|placeholder|description|alt|aria-label|text|action|header)$/;
/** Names, units and signs that are the same in every language. */
const ALLOWED = /^[^\p{L}]*$|^(refire|UTC|English|繁體中文)$/u;

function literals(path: string, text: string): string[] {
  const found: string[] = [];
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX);
  const note = (node: ts.Node, words: string) => {
    if (!ALLOWED.test(words.trim()))
      found.push(
        `${path.slice(SOURCES.length)}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1} ${words.trim()}`,
      );
  };
  const visit = (node: ts.Node) => {
    if (ts.isJsxText(node)) note(node, node.text);
    if (
      ts.isJsxAttribute(node) &&
      SPOKEN.test(node.name.getText()) &&
      node.initializer &&
      ts.isStringLiteral(node.initializer) &&
      !isCode(node)
    )
      note(node, node.initializer.text);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Commands and examples (`2s`, `$.event`) are not spoken. */
function isCode(attribute: ts.JsxAttribute): boolean {
  if (/^placeholder="[^\s"]*"$/.test(attribute.getText())) return true;
  return /CopyText/.test(attribute.parent.parent.getText().slice(0, 12));
}

describe('pages', () => {
  it('have no literal text', () => {
    const found = sources
      .filter((source) => source.path.endsWith('.tsx'))
      .flatMap((source) => literals(source.path, source.text));
    expect(found).toEqual([]);
  });

  it('name no colour outside of the tokens', () => {
    const css = (folder: string): string[] =>
      readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const path = join(folder, entry.name);
        if (entry.isDirectory()) return css(path);
        return /\.(css|tsx)$/.test(path) && !path.endsWith('tokens.css') ? [path] : [];
      });
    const wrong = css(SOURCES).filter((path) =>
      /(?:[:\s'"(])#[0-9a-f]{3,8}\b(?=[\s;'",)])|\b(?:rgb|hsl)a?\(/i.test(
        readFileSync(path, 'utf8'),
      ),
    );
    expect(wrong.map((path) => path.slice(SOURCES.length))).toEqual([]);
  });
});
