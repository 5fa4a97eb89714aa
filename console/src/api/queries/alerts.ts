/** Alerts, the rules that make them, and silences. */
import { queryOptions } from '@tanstack/react-query';
import { answer, api, call, read } from '../client';
import type { Schema } from '../types';

export type Alert = Schema<'Alert'>;
export type AlertRule = Schema<'AlertRule'>;
export type AlertKind = Schema<'AlertKind'>;
export type AlertRulePreview = Schema<'AlertRulePreview'>;
export type Silence = Schema<'Silence'>;

export const alertsKey = ['alerts'];
export const rulesKey = ['alert-rules'];
export const silencesKey = ['silences'];
const EVERY_MS = 5_000;
const COUNT_EVERY_MS = 15_000;
const PAGE_ROWS = 100;

export interface AlertFilter {
  phase?: string;
  rule_id?: string;
  subject?: string;
}

export function readAlerts(filter: AlertFilter, cursor: string | null, signal?: AbortSignal) {
  const { phase, rule_id, subject } = filter;
  return read('/api/alerts', {
    query: { phase, rule_id, subject, limit: PAGE_ROWS, cursor },
    signal,
  });
}

/** Those that fire and that nobody is at, for the number beside the page's name. */
export const firingAlerts = queryOptions({
  queryKey: [...alertsKey, 'firing'],
  queryFn: async ({ signal }) => {
    const query = { phase: 'firing', limit: PAGE_ROWS };
    return (await read('/api/alerts', { query, signal })).items.filter((each) => !each.acked_at)
      .length;
  },
  refetchInterval: COUNT_EVERY_MS,
});

export const ackRequest = (id: string) => ({
  method: 'POST',
  path: `/api/alerts/${encodeURIComponent(id)}/ack`,
});

export function ackAlert(id: string) {
  return answer(api.POST('/api/alerts/{id}/ack', { params: { path: { id } } }));
}

export const rulesQuery = queryOptions({
  queryKey: rulesKey,
  queryFn: async ({ signal }) => (await read('/api/alert-rules', { signal })).items,
  refetchInterval: EVERY_MS,
});

const rulePath = (id: string) => `/api/alert-rules/${encodeURIComponent(id)}`;

/** The request that makes or changes a rule, the same for sending and for curl. */
export function ruleRequest(body: Record<string, unknown>, known?: AlertRule) {
  if (!known) return { method: 'POST', path: '/api/alert-rules', body };
  const { kind: _, ...change } = body;
  const headers = { 'If-Match': `"${known.version}"` };
  return { method: 'PATCH', path: rulePath(known.id), body: change, headers };
}

export function saveRule(body: Record<string, unknown>, known?: AlertRule): Promise<AlertRule> {
  const { method, path, body: sent, headers } = ruleRequest(body, known);
  return call(method, path, { body: sent, headers });
}

export function switchRule(id: string, enabled: boolean): Promise<AlertRule> {
  return call('PATCH', rulePath(id), { body: { enabled } });
}

export const deleteRuleRequest = (id: string) => ({ method: 'DELETE', path: rulePath(id) });

export function deleteRule(id: string): Promise<void> {
  return call('DELETE', rulePath(id));
}

/** What a rule finds now, and when it would have fired. */
export function previewRule(body: Record<string, unknown>, signal: AbortSignal) {
  return call<AlertRulePreview>('POST', '/api/alert-rules/preview', { body, signal });
}

export const silencesQuery = queryOptions({
  queryKey: silencesKey,
  queryFn: async ({ signal }) => (await read('/api/silences', { signal })).items,
  refetchInterval: EVERY_MS,
});

export interface SilenceBody {
  rule?: string;
  subject?: string;
  starts_at?: string;
  ends_at: string;
  comment?: string;
}

export const silenceRequest = (body: SilenceBody) => ({
  method: 'POST',
  path: '/api/silences',
  body,
});

export function makeSilence(body: SilenceBody): Promise<Silence> {
  return call('POST', '/api/silences', { body });
}

export const endSilenceRequest = (id: string) => ({
  method: 'DELETE',
  path: `/api/silences/${encodeURIComponent(id)}`,
});

export function endSilence(id: string): Promise<void> {
  const { method, path } = endSilenceRequest(id);
  return call(method, path);
}
