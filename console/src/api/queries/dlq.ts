/** Dead letters: list, totals, one, retry, delete. */
import { queryOptions } from '@tanstack/react-query';
import { answer, api, call, read } from '../client';
import { pageOf, stretchOf } from '../stretch';
import type { Schema } from '../types';

export type Letter = Schema<'DeadLetter'>;
export type LetterDetail = Schema<'DeadLetterDetail'>;
export type LetterRetry = Schema<'DeadLetterRetry'>;
export type InputChange = Schema<'Change'>;

/** What can be chosen of dead letters; times as in the URL. */
export interface LetterFilter {
  workflow?: string;
  error_type?: string;
  status?: string;
  from?: string;
  to?: string;
  q?: string;
  fingerprint?: string;
  /** `true`: those of more than 30 days ago, `all`: those, too. */
  archived?: string;
  /** The host that was called last. */
  target?: string;
}

/** Rows of one page. */
export const PAGE_ROWS = 50;
const EVERY_MS = 5_000;

/** The filter by the server's names; its times are absolute by now. */
export const named = (filter: LetterFilter) => ({
  workflow_id: filter.workflow,
  error_type: filter.error_type,
  status: filter.status,
  from: filter.from,
  to: filter.to,
  q: filter.q,
  fingerprint: filter.fingerprint,
  archived: filter.archived,
  target: filter.target,
});

export const lettersKey = ['dlq'];

/** What is asked again after a retry: everything but the rows of lists, which change where they stand. */
export const lettersInPlace = {
  predicate: ({ queryKey }: { queryKey: readonly unknown[] }) =>
    queryKey[0] === lettersKey[0] && queryKey.at(-1) !== 'pages',
};

/** A page of letters, newest first. */
export function readLetters(filter: LetterFilter, cursor: string | null, signal?: AbortSignal) {
  return pageOf(filter, cursor, (asked) =>
    read('/api/dlq', { query: { ...named(asked), limit: PAGE_ROWS, cursor }, signal }),
  );
}

/** Rows that are read again one by one, at most. */
const MOST_AGAIN = 10;

/** Letters by id: those that may have changed and are no longer on the first page. */
export function readAgain(ids: string[], signal?: AbortSignal): Promise<Letter[]> {
  return Promise.all(
    ids
      .slice(0, MOST_AGAIN)
      .map((id) => answer(api.GET('/api/dlq/{id}', { params: { path: { id } }, signal }))),
  );
}

export const letterSummary = (filter: LetterFilter) =>
  queryOptions({
    queryKey: [...lettersKey, 'summary', filter],
    queryFn: ({ signal }) =>
      read('/api/dlq/summary', {
        query: named({ ...filter, ...stretchOf(filter) }),
        signal,
      }),
    refetchInterval: EVERY_MS,
  });

export const letterQuery = (id: string) =>
  queryOptions({
    queryKey: [...lettersKey, 'one', id],
    queryFn: ({ signal }) => answer(api.GET('/api/dlq/{id}', { params: { path: { id } }, signal })),
    // A letter changes by itself only while somebody's retry of it is open.
    refetchInterval: (query) => (query.state.data?.status === 'retrying' ? 1_000 : EVERY_MS),
  });

export type RetryFrom = 'start' | 'failed_step';

export interface RetryWish {
  from: RetryFrom;
  /** An edited input goes as it was typed, so that numbers stay exact. */
  input?: string;
  /** By the workflow's policy, instead of once. */
  retries?: boolean;
}

/** The request that retries a letter. */
export function retryRequest(id: string, { from, input, retries }: RetryWish) {
  const plain = retries ? `{"from":"${from}","retries":true}` : `{"from":"${from}"}`;
  const body = input === undefined ? plain : `${plain.slice(0, -1)},"input":${input}}`;
  return { method: 'POST', path: `/api/dlq/${encodeURIComponent(id)}/retry`, body };
}

export function retryLetter(id: string, wish: RetryWish): Promise<Schema<'DeadLetterRetried'>> {
  const { method, path, body } = retryRequest(id, wish);
  return call(method, path, { body });
}

export const deleteRequest = (id: string) => ({
  method: 'DELETE',
  path: `/api/dlq/${encodeURIComponent(id)}`,
});

export function deleteLetter(id: string): Promise<void> {
  const { method, path } = deleteRequest(id);
  return call(method, path);
}

/** Where the execution of a retry stands, until it has ended. */
export const retryProgress = (id: string) =>
  queryOptions({
    queryKey: ['executions', 'progress', id],
    queryFn: ({ signal }) =>
      answer(api.GET('/api/executions/{id}', { params: { path: { id } }, signal })),
    refetchInterval: (query) =>
      query.state.data && /^(completed|failed|dlq|cancelled)$/.test(query.state.data.status)
        ? false
        : 1_000,
  });
