import { describe, expect, it } from 'vitest';
import { kindOf, scopeWords, shareOf } from './words';

describe('a job in words', () => {
  it('is about letters or executions', () => {
    expect(kindOf({ action: 'purge' })).toBe('letters');
    expect(kindOf({ action: 'run_again' })).toBe('executions');
  });

  it('names its filter, or how many were ticked', () => {
    expect(scopeWords({ filter: { workflow_id: 'crm', status: 'pending' }, ids: null })).toBe(
      'workflow_id: crm · status: pending',
    );
    expect(scopeWords({ filter: null, ids: 3 })).toMatch(/3/);
  });

  it('knows its share only where it was counted', () => {
    expect(shareOf({ done: 25, total: 100, state: 'running' })).toBe(25);
    expect(shareOf({ done: 25, total: null, state: 'running' })).toBeUndefined();
    expect(shareOf({ done: 25, total: null, state: 'completed' })).toBe(100);
    expect(shareOf({ done: 120, total: 100, state: 'paused' })).toBe(100);
  });
});
