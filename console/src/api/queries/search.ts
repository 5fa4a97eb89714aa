/** The server's search by id, key or name, for the palette. */
import { queryOptions } from '@tanstack/react-query';
import { call } from '../client';

export interface Found {
  kind: string;
  id: string;
  title: string | null;
  status: string | null;
  path: string;
}

const LEAST_LETTERS = 2;

export function searchQuery(text: string) {
  return queryOptions({
    queryKey: ['search', text],
    queryFn: async ({ signal }) => {
      const found = await call<{ items: Found[] }>('GET', '/api/search', {
        query: { q: text },
        signal,
      });
      return found.items;
    },
    enabled: text.length >= LEAST_LETTERS,
    retry: false,
  });
}
