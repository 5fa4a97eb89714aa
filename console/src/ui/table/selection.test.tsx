import { act, renderHook } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { useSelection } from './selection';

const KEYS = ['a', 'b', 'c', 'd', 'e'];

describe('selection', () => {
  it('toggles, takes ranges from the last one touched, and clears', () => {
    const { result } = renderHook(() => useSelection(KEYS));
    act(() => result.current.toggle('d'));
    act(() => result.current.toggle('b', true));
    expect([...result.current.keys].sort()).toEqual(['b', 'c', 'd']);
    act(() => result.current.toggle('c'));
    expect(result.current.has('c')).toBe(false);
    act(() => result.current.all());
    expect(result.current.keys.size).toBe(5);
    act(() => result.current.clear());
    expect(result.current.keys.size).toBe(0);
  });
});
