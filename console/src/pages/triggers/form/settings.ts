/** Parts that the settings of every trigger share, as a form holds them: texts, and what it does not know. */
import { parseExact, stringifyExact } from '@/api/exact';
import type { Trigger, TriggerSettings } from '@/api/queries/triggers';

/** What the server says of a trigger beside its settings. */
const ABOUT = new Set([
  'id',
  'workflow_id',
  'trigger_type',
  'enabled',
  'version',
  'created_at',
  'updated_at',
  'next_execution',
  'next_executions',
  'description_in_words',
  'finished',
  'problem',
  'running_execution_id',
  'overdue_since',
  'last_success_at',
  'pause',
  'previous_secret_until',
  'secret',
  'unchanged',
  'webhook_id',
  'webhook_url',
  'workflow_deleted',
]);

/** Only the settings of a trigger, as they are sent back. */
export function settingsOnly(trigger: Trigger): TriggerSettings {
  return Object.fromEntries(Object.entries(trigger).filter(([name]) => !ABOUT.has(name)));
}

/** Settings without the named ones: what the form has no field for and keeps. */
export function without(settings: TriggerSettings, names: readonly string[]): TriggerSettings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !names.includes(name)));
}

export const textOf = (value: unknown): string =>
  value === undefined || value === null
    ? ''
    : typeof value === 'object'
      ? stringifyExact(value)
      : String(value);

/** `09:00, 17:30` or lines, as a list of texts. */
export function splitList(text: string): string[] {
  return text
    .split(/[\n,]+/)
    .map((part) => part.trim())
    .filter(Boolean);
}

export function joinList(value: unknown, between = ', '): string {
  return (Array.isArray(value) ? value : [value]).map(textOf).filter(Boolean).join(between);
}

/** One value alone, several as a list. */
export const oneOrMany = <T>(values: T[]): T | T[] => (values.length === 1 ? values[0]! : values);

/** How often and when a failed step is tried again: as the workflow says, not at all, or otherwise. */
export interface RetryDraft {
  mode: 'workflow' | 'off' | 'own';
  max: string;
  strategy: string;
  first: string;
  cap: string;
  /** Keys without a field here. */
  other: TriggerSettings;
}

const RETRY_FIELDS = ['enabled', 'maxRetries', 'strategy', 'initialDelay', 'maxDelay'] as const;

export const NO_RETRY: RetryDraft = {
  mode: 'workflow',
  max: '',
  strategy: '',
  first: '',
  cap: '',
  other: {},
};

export function retryDraft(value: unknown): RetryDraft {
  if (value === undefined || value === null) return NO_RETRY;
  if (value === false) return { ...NO_RETRY, mode: 'off' };
  if (typeof value === 'number') return { ...NO_RETRY, mode: 'own', max: String(value) };
  if (typeof value !== 'object') return { ...NO_RETRY, mode: 'own' };
  const given = value as TriggerSettings;
  return {
    mode: given.enabled === false ? 'off' : 'own',
    max: textOf(given.maxRetries),
    strategy: textOf(given.strategy),
    first: textOf(given.initialDelay),
    cap: textOf(given.maxDelay),
    other: without(given, RETRY_FIELDS),
  };
}

export function retrySettings(draft: RetryDraft): unknown {
  if (draft.mode === 'workflow') return undefined;
  const others = Object.keys(draft.other).length > 0;
  if (draft.mode === 'off') return others ? { ...draft.other, enabled: false } : false;
  return present({
    ...draft.other,
    maxRetries: numberOrText(draft.max),
    strategy: draft.strategy || undefined,
    initialDelay: draft.first.trim() || undefined,
    maxDelay: draft.cap.trim() || undefined,
  });
}

/** A whole number where one was typed; else the text, for the server to judge. */
export function numberOrText(text: string): number | string | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  return /^\d{1,15}$/.test(trimmed) ? Number(trimmed) : trimmed;
}

/** Without what is not set. */
export function present(settings: TriggerSettings): TriggerSettings {
  return Object.fromEntries(
    Object.entries(settings).filter(([, value]) => value !== undefined && value !== ''),
  );
}

/** What is wrong with a text as JSON; nothing when it is right or empty. */
export function jsonProblem(text: string): string | undefined {
  if (text.trim() === '') return undefined;
  try {
    parseExact(text);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Settings as JSON, with the input as it was typed, to the last digit. */
export function bodyOf(settings: TriggerSettings, input: string): string {
  const text = stringifyExact(settings);
  const raw = input.trim();
  if (raw === '') return text;
  return text === '{}' ? `{"input":${raw}}` : `${text.slice(0, -1)},"input":${raw}}`;
}
