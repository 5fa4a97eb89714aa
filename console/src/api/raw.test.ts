import { describe, expect, it } from 'vitest';
import { byteSlices, items, members, stringEnd } from './raw';

describe('places in a JSON text', () => {
  it('finds the end of a string', () => {
    expect(stringEnd('"a\\"b" x', 0)).toBe(6);
    expect(stringEnd('"a\\\\" x', 0)).toBe(5);
    expect(stringEnd(`"${'x\\"'.repeat(3_000_000)}"`, 0)).toBe(9_000_002);
  });

  it('gives members and items as they were written', () => {
    const text = '{ "a" : [1, {"x":"]}"}] , "b\\"":1.50,"c":"} ,", "d":{} }';
    expect([...members(text)]).toEqual([
      ['a', '[1, {"x":"]}"}]'],
      ['b"', '1.50'],
      ['c', '"} ,"'],
      ['d', '{}'],
    ]);
    expect(items('[ 1 , "a,b", {"x": [2]} ,null]')).toEqual(['1', '"a,b"', '{"x": [2]}', 'null']);
    expect(items('[]')).toEqual([]);
    expect(members('{}').size).toBe(0);
  });

  it('counts bytes, not letters', () => {
    expect(byteSlices('{"a":"é","b":7}')(14, 1)).toBe('7');
    expect(byteSlices('{"a":"e","b":7}')(13, 1)).toBe('7');
  });
});
