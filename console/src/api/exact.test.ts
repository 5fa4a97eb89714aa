import { describe, expect, it } from 'vitest';
import { ExactNumber, parseExact, stringifyExact } from './exact';

const back = (text: string) => stringifyExact(parseExact(text));

describe('exact JSON', () => {
  it('keeps numbers that JavaScript cannot hold', () => {
    const text =
      '{"id":12345678901234567890,"min":-9007199254740993,"fine":1.0000000000000000001,"far":1e400}';
    expect(back(text)).toBe(text);
    expect((parseExact(text) as { id: unknown }).id).toBeInstanceOf(ExactNumber);
  });

  it('leaves all other numbers plain', () => {
    const value = parseExact('[1, 2.5, 9007199254740991, 1e3, 1.0, 0.1, -0.25, 1.5e300]');
    expect(value).toEqual([1, 2.5, 9007199254740991, 1000, 1, 0.1, -0.25, 1.5e300]);
  });

  it('does not touch digits in strings, not even after escapes', () => {
    const text =
      '{"a":"12345678901234567890","b":"\\"12345678901234567890","c\\\\":12345678901234567891}';
    expect(back(text)).toBe(text);
  });

  it('cannot be deceived by a text that looks like its own mark', () => {
    const text = '["\uE000n:1","\uE000\uE000n:2",12345678901234567890]';
    expect(back(text)).toBe(text);
    expect((parseExact(text) as unknown[])[0]).toBe('\uE000n:1');
  });

  it('refuses what is no JSON', () => {
    expect(() => parseExact('{"a":01234567890123456789}')).toThrow();
    expect(() => parseExact('12345678901234567890,')).toThrow();
  });

  it('indents, and acts as a number where one is needed', () => {
    expect(stringifyExact({ a: new ExactNumber('12345678901234567890') }, 2)).toBe(
      '{\n  "a": 12345678901234567890\n}',
    );
    expect(Number(new ExactNumber('10'))).toBe(10);
    expect(`${new ExactNumber('12345678901234567890')}`).toBe('12345678901234567890');
  });

  it('reads a text of many megabytes beside such a number', () => {
    const long = 'x\\n"'.repeat(3_000_000);
    const text = JSON.stringify({ long, n: 1 }).replace('"n":1', '"n":12345678901234567890');
    expect(stringifyExact(parseExact(text)) === text).toBe(true);
  });
});
