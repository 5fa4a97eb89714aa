import { describe, expect, it } from 'vitest';
import { bulkRequest } from '@/api/queries/bulk';
import { durationOf } from './rate';
import { transformProblem, transformText } from './transform';

describe('a bulk request', () => {
  it('is the same for a dry run and for the job, but for one word', () => {
    const scope = { filter: { workflow_id: 'crm' } };
    const wish = { action: 'retry', rate: 20, from: 'start' } as const;
    expect(JSON.parse(bulkRequest('letters', scope, wish).body)).toEqual({
      filter: { workflow_id: 'crm' },
      action: 'retry',
      rate: 20,
      from: 'start',
    });
    const dry = bulkRequest('letters', scope, wish, true);
    expect(JSON.parse(dry.body)).toMatchObject({ dry_run: true });
    expect(dry.path).toBe('/api/dlq/bulk');
  });

  it('keeps the numbers of a transform as they were typed', () => {
    const transform = transformText({ kind: 'merge', text: '{"order": 12345678901234567890}' });
    const { body } = bulkRequest('letters', { ids: ['a'] }, { action: 'retry', transform });
    expect(body).toContain('"transform":{"merge":{"order": 12345678901234567890}}');
    expect(() => JSON.parse(body)).not.toThrow();
  });
});

describe('a transform', () => {
  it('is JSON or says why not', () => {
    expect(transformProblem({ kind: 'none', text: 'x' })).toBeUndefined();
    expect(transformProblem({ kind: 'merge', text: '' })).toBe('');
    expect(transformProblem({ kind: 'merge', text: '{"a": "${input.b}"}' })).toBeUndefined();
    expect(transformProblem({ kind: 'template', text: '{' })).toBeTruthy();
  });
});

it('tells how long a job takes at its rate', () => {
  expect(durationOf(100, 50)).toBe(2_000);
  expect(durationOf(0, 50)).toBe(0);
  expect(durationOf(10, 0)).toBeUndefined();
});
