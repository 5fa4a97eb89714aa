import { describe, expect, it } from 'vitest';
import { safeNext } from './next';

describe('the page after the login', () => {
  it('is a page of this console', () => {
    expect(safeNext('/executions?status=dlq', '/')).toBe('/executions?status=dlq');
    expect(safeNext('/ops/refire/dlq', '/ops/refire/')).toBe('/dlq');
    expect(safeNext(undefined, '/')).toBe('/');
  });

  it('is never a foreign address, nor the login', () => {
    for (const next of [
      '//evil.example',
      'https://evil.example',
      '/\\evil.example',
      '/\t/evil.example',
      'javascript:x',
      '/login?next=/x',
    ])
      expect(safeNext(next, '/')).toBe('/');
  });
});
