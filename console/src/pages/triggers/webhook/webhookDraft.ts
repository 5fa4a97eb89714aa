/** The settings of a webhook as the form holds them, and the way back. */
import { parseExact, stringifyExact } from '@/api/exact';
import type { Trigger, TriggerSettings } from '@/api/queries/triggers';
import {
  joinList,
  NO_RETRY,
  numberOrText,
  present,
  type RetryDraft,
  retryDraft,
  retrySettings,
  settingsOnly,
  splitList,
  textOf,
  without,
} from '../form/settings';

export const METHODS = [
  'hmac',
  'api_key',
  'standard_webhooks',
  'github',
  'stripe',
  'slack',
  'shopify',
  'teams',
  'none',
] as const;
export type Method = (typeof METHODS)[number];

export const OPERATORS = [
  'equals',
  'not_equals',
  'contains',
  'exists',
  'not_exists',
  'in',
  'matches',
  'gt',
  'gte',
  'lt',
  'lte',
] as const;

/** Operators that compare with nothing. */
export const needsValue = (operator: string) => !/^(not_)?exists$/.test(operator);

export interface Condition {
  /** Keeps its row while others come and go. */
  key: number;
  path: string;
  operator: string;
  /** JSON, or a text as it is. */
  value: string;
}

export interface WebhookDraft {
  name: string;
  description: string;
  enabled: boolean;
  method: Method;
  header: string;
  prefix: string;
  encoding: string;
  signedText: string;
  timestampHeader: string;
  tolerance: string;
  conditions: Condition[];
  keyPaths: string;
  ignoreKeyHeader: boolean;
  keyWindow: string;
  ipAllow: string;
  perSecond: string;
  burst: string;
  challenge: string;
  successWithin: string;
  retry: RetryDraft;
  other: TriggerSettings;
}

const KNOWN = [
  'name',
  'description',
  'authentication',
  'signature_header',
  'prefix',
  'encoding',
  'signed_text',
  'timestamp_header',
  'tolerance',
  'filters',
  'idempotency_paths',
  'ignore_idempotency_header',
  'idempotency_window',
  'ip_allow',
  'rate_limit',
  'challenge',
  'dead_man',
  'retry',
] as const;

export const NEW_WEBHOOK: WebhookDraft = {
  name: '',
  description: '',
  enabled: true,
  method: 'hmac',
  header: '',
  prefix: '',
  encoding: '',
  signedText: '',
  timestampHeader: '',
  tolerance: '',
  conditions: [],
  keyPaths: '',
  ignoreKeyHeader: false,
  keyWindow: '',
  ipAllow: '',
  perSecond: '',
  burst: '',
  challenge: '',
  successWithin: '',
  retry: NO_RETRY,
  other: {},
};

/** A value as the form shows it: a text bare, unless it would be read as something else. */
export function valueText(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value !== 'string') return stringifyExact(value);
  return isJson(value) || value !== value.trim() || value === '' ? JSON.stringify(value) : value;
}

/** What a typed value means: JSON where it is JSON, else the text. */
export function typedValue(text: string): unknown {
  const trimmed = text.trim();
  return isJson(trimmed) ? parseExact(trimmed) : trimmed;
}

export type ValueType = 'text' | 'number' | 'list' | 'boolean' | 'null' | 'object';

export function valueType(text: string): ValueType {
  const value = typedValue(text);
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'null';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'boolean';
  return typeof value === 'number' || !isPlain(value) ? 'number' : 'object';
}

const isPlain = (value: unknown) => Object.getPrototypeOf(value) === Object.prototype;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

let keys = 0;
export const newCondition = (): Condition => ({
  key: ++keys,
  path: '$.',
  operator: 'equals',
  value: '',
});

const record = (value: unknown): TriggerSettings =>
  typeof value === 'object' && value !== null ? (value as TriggerSettings) : {};

export function webhookDraft(trigger: Trigger): WebhookDraft {
  const given = settingsOnly(trigger);
  const filters = Array.isArray(given.filters) ? given.filters.map(record) : [];
  const rate = record(given.rate_limit);
  return {
    name: textOf(given.name),
    description: textOf(given.description),
    enabled: trigger.enabled,
    method: (textOf(given.authentication) || 'hmac') as Method,
    header: textOf(given.signature_header),
    prefix: textOf(given.prefix),
    encoding: textOf(given.encoding),
    signedText: textOf(given.signed_text),
    timestampHeader: textOf(given.timestamp_header),
    tolerance: textOf(given.tolerance),
    conditions: filters.map((filter) => ({
      key: ++keys,
      path: textOf(filter.json_path),
      operator: textOf(filter.operator),
      value: valueText(filter.value),
    })),
    keyPaths: joinList(given.idempotency_paths, '\n'),
    ignoreKeyHeader: given.ignore_idempotency_header === true,
    keyWindow: textOf(given.idempotency_window),
    ipAllow: joinList(given.ip_allow, '\n'),
    perSecond: textOf(rate.per_second),
    burst: textOf(rate.burst),
    challenge: textOf(given.challenge),
    successWithin: textOf(record(given.dead_man).success_within),
    retry: retryDraft(given.retry),
    other: without(given, KNOWN),
  };
}

const listOrNothing = (list: string[]) => (list.length > 0 ? list : undefined);

/** Lines of paths: a comma may be part of a path. */
const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

export function webhookSettings(draft: WebhookDraft): TriggerSettings {
  const hmac = draft.method === 'hmac';
  const named = hmac || draft.method === 'api_key';
  const signs = draft.method !== 'api_key' && draft.method !== 'none';
  const shown = present({
    name: draft.name.trim(),
    description: draft.description.trim(),
    authentication: draft.method,
    signature_header: named ? draft.header.trim() : undefined,
    prefix: hmac ? draft.prefix : undefined,
    encoding: hmac ? draft.encoding : undefined,
    signed_text: hmac ? draft.signedText : undefined,
    timestamp_header: hmac ? draft.timestampHeader.trim() : undefined,
    tolerance: signs ? draft.tolerance.trim() : undefined,
    filters: draft.conditions.length > 0 ? draft.conditions.map(filterOf) : undefined,
    idempotency_paths: listOrNothing(lines(draft.keyPaths)),
    ignore_idempotency_header: draft.ignoreKeyHeader || undefined,
    idempotency_window: draft.keyWindow.trim(),
    ip_allow: listOrNothing(splitList(draft.ipAllow)),
    challenge: draft.challenge,
    dead_man: draft.successWithin.trim()
      ? { success_within: draft.successWithin.trim() }
      : undefined,
    retry: retrySettings(draft.retry),
  });
  const rate = present({
    per_second: numberOrText(draft.perSecond),
    burst: numberOrText(draft.burst),
  });
  if (Object.keys(rate).length > 0) shown.rate_limit = rate;
  return { ...draft.other, trigger_type: 'webhook', ...shown, enabled: draft.enabled };
}

function filterOf({ path, operator, value }: Condition): TriggerSettings {
  const filter: TriggerSettings = { json_path: path.trim(), operator };
  if (needsValue(operator)) filter.value = typedValue(value);
  return filter;
}
