import { describe, expect, it } from 'vitest';
import { exampleInput, inputProblem } from './input';

describe('the example', () => {
  it('has every field that is read', () => {
    const definition = {
      steps: [
        {
          config: {
            url: 'https://e.com/${input.customer_id}',
            body: { a: '${input.person.mail ?? "x"}' },
          },
        },
        {
          when: '${input.include_crm}',
          config: { body: ['${input["first name"]}', '${input.items[0].x}'] },
        },
      ],
    };
    expect(JSON.parse(exampleInput(definition))).toEqual({
      customer_id: 1,
      person: { mail: 'anna@example.com' },
      include_crm: true,
      'first name': 'text',
      items: [],
    });
    expect(exampleInput({ steps: [{ config: { body: '${input}' } }] })).toBe('{}');
  });
});

describe('what is wrong with an input', () => {
  it('is nothing for JSON, empty text and long numbers', () => {
    for (const text of ['', '{}', '[1]', '123456789012345678901234567890', '"x"'])
      expect(inputProblem(text)).toBeUndefined();
  });
  it('has a place', () => {
    expect(inputProblem('{\n  "a": ,\n}')).toMatchObject({ line: 2 });
    expect(inputProblem('{"a": 1')).toMatchObject({ line: 1 });
  });
});
