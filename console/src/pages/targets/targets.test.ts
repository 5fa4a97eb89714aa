import { describe, expect, it } from 'vitest';
import { failedShare, isAble } from './acts';

describe('a target', () => {
  it('can be tried while it is left alone, and is freed from what a person said', () => {
    expect(isAble({ state: 'open', forced: null }, 'probe')).toBe(true);
    expect(isAble({ state: 'closed', forced: null }, 'probe')).toBe(false);
    expect(isAble({ state: 'closed', forced: null }, 'reset')).toBe(false);
    expect(isAble({ state: 'closed', forced: 'closed' }, 'reset')).toBe(true);
    expect(isAble({ state: 'open', forced: 'open' }, 'open')).toBe(false);
    expect(isAble({ state: 'open', forced: null }, 'close')).toBe(true);
  });

  it('has a share of failures only where calls were made', () => {
    expect(failedShare({ calls: 0, failed: 0, limited: 0 })).toBeUndefined();
    expect(failedShare({ calls: 8, failed: 6, limited: 0 })).toBe(75);
  });
});
