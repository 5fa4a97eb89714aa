/** The server's search by id, key or name, for the palette. */
import { queryOptions } from '@tanstack/react-query';
import { read } from '../client';
import type { Schema } from '../types';

export type Found = Schema<'SearchResult'>['items'][number];

const LEAST_LETTERS = 2;

export function searchQuery(text: string) {
  return queryOptions({
    queryKey: ['search', text],
    queryFn: async ({ signal }) => {
      const found = await read('/api/search', { query: { q: text }, signal });
      return found.items;
    },
    enabled: text.length >= LEAST_LETTERS,
    retry: false,
  });
}
