/** What is typed into the form of a rule, as text; and the rule that it means. */
import type { AlertKind, AlertRule } from '@/api/queries/alerts';

export interface RuleDraft {
  name: string;
  kind: AlertKind;
  workflow: string;
  window: string;
  above: string;
  minCount: string;
  after: string;
  hold: string;
  repeat: string;
  channels: string[];
  enabled: boolean;
}

export type RuleField = 'workflow' | 'window' | 'above' | 'minCount' | 'after';

/** The fields that a kind has, beside those of every rule. */
export const FIELDS: Record<AlertKind, readonly RuleField[]> = {
  failure_rate: ['workflow', 'window', 'above', 'minCount'],
  dlq_growth: ['workflow', 'window', 'above'],
  missed_slots: ['workflow', 'window', 'above'],
  scheduled_task_failed: ['workflow', 'window'],
  long_processing: ['workflow', 'after'],
  dead_man: ['workflow'],
  dead_workers: [],
  breaker_open: [],
};

export const KINDS = Object.keys(FIELDS) as AlertKind[];

/** The names of fields as the server has them. */
export const SENT: Record<RuleField, string> = {
  workflow: 'workflow',
  window: 'window',
  above: 'above',
  minCount: 'min_count',
  after: 'after',
};

export const NEW_RULE: RuleDraft = {
  name: '',
  kind: 'failure_rate',
  workflow: '',
  window: '10m',
  above: '20',
  minCount: '10',
  after: '1h',
  hold: '0s',
  repeat: '4h',
  channels: [],
  enabled: true,
};

export function draftOf(rule: AlertRule): RuleDraft {
  return {
    ...NEW_RULE,
    name: rule.name,
    kind: rule.kind,
    workflow: rule.workflow ?? '',
    window: rule.window ?? NEW_RULE.window,
    above: rule.above?.toString() ?? NEW_RULE.above,
    minCount: rule.min_count?.toString() ?? NEW_RULE.minCount,
    after: rule.after ?? NEW_RULE.after,
    hold: rule.for,
    repeat: rule.repeat,
    channels: [...rule.channels],
    enabled: rule.enabled,
  };
}

const isNumber = (text: string) => text.trim() !== '' && !Number.isNaN(Number(text));

/** What is no number goes as it is: the server says what is wrong with it. */
const number = (text: string) => (isNumber(text) ? Number(text) : text);

export function bodyOf(draft: RuleDraft, isChange = false): Record<string, unknown> {
  const body: Record<string, unknown> = { name: draft.name, kind: draft.kind };
  for (const field of FIELDS[draft.kind]) {
    const text = draft[field];
    // A change takes a field back by null; a new rule leaves it out.
    if (text.trim() === '') {
      if (isChange) body[SENT[field]] = null;
    } else
      body[SENT[field]] = field === 'above' || field === 'minCount' ? number(text) : text.trim();
  }
  return {
    ...body,
    for: draft.hold || '0s',
    repeat: draft.repeat,
    channels: draft.channels,
    enabled: draft.enabled,
  };
}
