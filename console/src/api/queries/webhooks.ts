/** Webhooks: the requests that arrived, trying one, secrets, and checking refused ones again. */
import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { call, read } from '../client';
import type { Schema } from '../types';
import { type Trigger, type TriggerSettings, triggerKey } from './triggers';

export type WebhookRequest = Schema<'WebhookRequest'>;
export type RequestStatus = Schema<'RequestStatus'>;
export type TestedWebhook = Schema<'TestedWebhook'>;
export type WebhookAnswer = Schema<'WebhookAnswer'>;

const PAGE_ROWS = 100;
const PAGE_MS = 4_000;

const of = (id: string) => `/api/triggers/${encodeURIComponent(id)}`;

export interface RequestFilter {
  status?: string;
  test?: string;
  from?: string;
  to?: string;
}

/** The newest requests, for a table of few or a strip. */
export const newestRequests = (id: string, limit: number, filter: RequestFilter = {}) =>
  queryOptions({
    queryKey: [...triggerKey(id), 'requests', 'newest', limit, filter],
    queryFn: async ({ signal }) =>
      (
        await read('/api/triggers/{id}/requests', {
          path: { id },
          query: { ...filter, limit },
          signal,
        })
      ).items,
    refetchInterval: PAGE_MS,
  });

export const requestListKey = (id: string, filter: RequestFilter) => [
  ...triggerKey(id),
  'requests',
  'list',
  filter,
];

export function readRequests(
  id: string,
  filter: RequestFilter,
  cursor: string | null,
  signal?: AbortSignal,
) {
  return read('/api/triggers/{id}/requests', {
    path: { id },
    query: { ...filter, limit: PAGE_ROWS, cursor },
    signal,
  });
}

/** One request with headers and body. */
export const requestQuery = (id: string, request: string) =>
  queryOptions({
    queryKey: [...triggerKey(id), 'request', request],
    queryFn: ({ signal }) =>
      read('/api/triggers/{id}/requests/{request_id}', {
        path: { id, request_id: request },
        signal,
      }),
  });

export interface RequestSummary {
  /** Of many, the newest 10,000. */
  total: number;
  exact?: boolean;
  by_status: Record<string, number>;
  oldest: string | null;
  newest: string | null;
  quarantined: number;
}

export const requestSummary = (id: string, filter: Pick<RequestFilter, 'from' | 'to'> = {}) =>
  queryOptions({
    queryKey: [...triggerKey(id), 'requests', 'summary', filter],
    queryFn: ({ signal }) =>
      read('/api/triggers/{id}/requests/summary', { path: { id }, query: { ...filter }, signal }),
    refetchInterval: PAGE_MS,
    retry: false,
  });

export interface JudgedCondition {
  json_path: string;
  operator: string;
  value: unknown;
  found: unknown;
  passed: boolean;
  error: string | null;
}

export interface PreviewedWebhook {
  conditions: JudgedCondition[];
  passed: boolean;
  idempotency_key: string | null;
  key_from: string | null;
  error?: string | null;
}

export interface Sample {
  /** JSON as it was typed. */
  body: string;
  headers?: Record<string, string>;
}

/** What settings, saved or not, make of a sample. Nothing is written. */
export const webhookPreview = (settings: TriggerSettings, sample: Sample) =>
  queryOptions({
    queryKey: ['webhook-preview', settings, sample],
    queryFn: ({ signal }) =>
      call<PreviewedWebhook>('POST', '/api/webhook/preview', {
        body: withRaw({ settings, headers: sample.headers }, sample.body),
        signal,
      }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    retry: false,
  });

export interface TestWish {
  body: string;
  headers?: Record<string, string>;
  source_ip?: string;
  dry_run?: boolean;
}

export function testWebhook(id: string, { body, ...wish }: TestWish): Promise<TestedWebhook> {
  return call('POST', `${of(id)}/test`, { body: withRaw(wish, body) });
}

export interface RotateWish {
  secret?: string;
  keep_previous_for?: string;
  end_previous?: boolean;
}

export function rotateSecret(id: string, wish: RotateWish): Promise<Trigger> {
  return call('POST', `${of(id)}/rotate-secret`, { body: wish });
}

/** Checks one refused request again, and runs it if it passes. */
export function recheckRequest(id: string, request: string): Promise<WebhookAnswer> {
  return call('POST', `${of(id)}/requests/${encodeURIComponent(request)}/recheck`);
}

export interface RecheckWish {
  status?: string[];
  from?: string;
  to?: string;
  dry_run: boolean;
  cursor?: string;
}

export interface Rechecked {
  looked_at: number;
  would_start?: number;
  started?: number;
  /** Had been started before. */
  already_started?: number;
  refused: number;
  /** Why it ended early. */
  error?: string | null;
  items: {
    request_id: string;
    status: string;
    execution_id?: string | null;
    reason?: string | null;
  }[];
  next_cursor?: string | null;
}

/** Checks refused requests by filter, oldest first: first dry, then for real. */
export function recheckRequests(id: string, wish: RecheckWish): Promise<Rechecked> {
  return call('POST', `${of(id)}/requests/recheck`, { body: wish });
}

/** JSON of a few fields around a body that is sent as it was typed, byte for byte. */
export function withRaw(fields: object, body: string): string {
  const head = JSON.stringify(fields);
  return head === '{}' ? `{"body":${body}}` : `${head.slice(0, -1)},"body":${body}}`;
}
