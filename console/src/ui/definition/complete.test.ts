import { describe, expect, it } from 'vitest';
import { references } from './complete';
import { keysOf, type Schema, schemasAt, valuesOf } from './schema';
import { spotAt } from './spot';
import { plainValue, readYaml } from './yaml';

/** The spot of `|` in a text. */
function at(text: string) {
  const position = text.indexOf('|');
  const { path, kind, typed } = spotAt(text.replace('|', ''), position);
  return { path: path.join('.'), kind, typed };
}

describe('the spot of the cursor', () => {
  it('knows keys of the top and below', () => {
    expect(at('id: a\nre|')).toEqual({ path: '', kind: 'key', typed: 're' });
    expect(at('id: a\nretry:\n  max|')).toEqual({ path: 'retry', kind: 'key', typed: 'max' });
    expect(at('retry:\n  strategy: lin|')).toEqual({
      path: 'retry.strategy',
      kind: 'value',
      typed: 'lin',
    });
  });
  it('knows lists, indented or not', () => {
    const text = 'steps:\n  - id: one\n    type: http\n    config:\n      url: x\n      me|';
    expect(at(text)).toEqual({ path: 'steps.[].config', kind: 'key', typed: 'me' });
    expect(at('steps:\n- id: one\n  ty|')).toEqual({ path: 'steps.[]', kind: 'key', typed: 'ty' });
    expect(at('steps:\n  - i|')).toEqual({ path: 'steps.[]', kind: 'key', typed: 'i' });
    expect(at('steps:\n  - id: a\n    needs:\n      - b|').path).toBe('steps.[].needs.[]');
  });
  it('knows flow style and JSON', () => {
    expect(at('retry: { maxRetries: 3, jit|')).toEqual({
      path: 'retry',
      kind: 'key',
      typed: 'jit',
    });
    expect(at('retry: { jitter: f|')).toEqual({ path: 'retry.jitter', kind: 'value', typed: 'f' });
    expect(at('steps:\n  - id: a\n    needs: [on|')).toEqual({
      path: 'steps.[].needs.[]',
      kind: 'value',
      typed: 'on',
    });
    expect(at('{"retry": {"strat|')).toEqual({ path: 'retry', kind: 'key', typed: 'strat' });
    expect(at('{"steps": [{"type": "h|')).toEqual({
      path: 'steps.[].type',
      kind: 'value',
      typed: 'h',
    });
  });
});

const SCHEMA = JSON.parse(`{
  "properties": {
    "retry": { "oneOf": [{ "type": "boolean" }, { "$ref": "#/$defs/policy" }] },
    "steps": {
      "items": {
        "properties": { "type": { "examples": ["http"] }, "config": {} },
        "allOf": [
          { "if": { "pattern": "^[Hh][Tt][Tt][Pp]$" }, "then": { "properties": { "config": { "properties": { "url": {} } } } } },
          { "if": { "pattern": "^[Ll][Oo]$" }, "then": { "properties": { "config": { "properties": { "task": {} } } } } }
        ]
      }
    }
  },
  "$defs": { "policy": { "properties": { "strategy": { "enum": ["linear"] }, "max_retries": {} } } }
}`) as Schema;

describe('the schema at a path', () => {
  it('follows references, lists and choices', () => {
    expect(keysOf(SCHEMA, schemasAt(SCHEMA, ['retry'])).map((o) => o.label)).toEqual(['strategy']);
    expect(valuesOf(schemasAt(SCHEMA, ['retry', 'strategy'])).map((o) => o.label)).toEqual([
      'linear',
    ]);
    expect(valuesOf(schemasAt(SCHEMA, ['retry'])).map((o) => o.label)).toEqual(['true', 'false']);
  });
  it("chooses the settings of a step's type", () => {
    const keys = (type?: string) =>
      keysOf(SCHEMA, schemasAt(SCHEMA, ['steps', '[]', 'config'], type)).map((o) => o.label);
    expect(keys('http')).toEqual(['url']);
    expect(keys()).toEqual(['url', 'task']);
  });
});

describe('reading a text', () => {
  it('keeps digits, resolves anchors and survives what is half typed', () => {
    const value = plainValue(
      readYaml('a: &x {n: 123456789012345678901234567890}\nb: *x\nc: [1, "2", ~]\nd: |\n  t\n'),
    ) as Record<string, unknown>;
    expect(String((value.b as { n: unknown }).n)).toBe('123456789012345678901234567890');
    expect(value.c).toEqual([1, '2', null]);
    expect(value.d).toBe('t');
    expect(plainValue(readYaml('steps:\n  - id: a\n    need'))).toMatchObject({
      steps: [{ id: 'a' }],
    });
  });
  it('names what templates may refer to', () => {
    const text =
      'steps:\n  - id: a\n    config:\n      url: "${input.host}"\n      outputMapping: { open: $.x }\n';
    expect(references(text)).toEqual(
      expect.arrayContaining(['input.host', 'steps.a.output', 'workflow.context.open']),
    );
  });
});
