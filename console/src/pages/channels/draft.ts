/** What is typed into the form of a channel, as text; and the channel that it means. */
import type { Channel, ChannelBody, ChannelType } from '@/api/queries/channels';

export interface ChannelDraft {
  name: string;
  type: ChannelType;
  enabled: boolean;
  language: string;
  /** What it is told of; none = everything. */
  kinds: string[];
  /** One pattern a line. */
  workflows: string;
  /** Fields of its type, by name. */
  config: Record<string, string>;
}

export interface ConfigField {
  name: string;
  /** Shown as `***` once it is stored. */
  secret?: boolean;
  /** Several, one a line. */
  lines?: boolean;
  number?: boolean;
  choices?: readonly string[];
  placeholder?: string;
  optional?: boolean;
}

export const CONFIG: Record<ChannelType, readonly ConfigField[]> = {
  teams: [
    {
      name: 'url',
      secret: true,
      placeholder: 'https://prod-1.westeurope.logic.azure.com/workflows/…',
    },
    { name: 'envelope', choices: ['message', 'card'] },
  ],
  slack: [{ name: 'url', secret: true, placeholder: 'https://hooks.slack.com/services/…' }],
  email: [
    { name: 'host', placeholder: 'smtp.example.com' },
    { name: 'tls', choices: ['starttls', 'tls', 'none'] },
    { name: 'port', number: true, optional: true, placeholder: '587' },
    { name: 'from', placeholder: 'refire@example.com' },
    { name: 'to', lines: true, placeholder: 'oncall@example.com' },
    { name: 'username', optional: true },
    { name: 'password', secret: true, optional: true },
    { name: 'ca', lines: true, optional: true, placeholder: '-----BEGIN CERTIFICATE-----' },
  ],
  webhook: [
    { name: 'url', placeholder: 'https://example.com/refire' },
    { name: 'secret', secret: true, optional: true, placeholder: 'whsec_…' },
  ],
  pagerduty: [
    { name: 'routing_key', secret: true, placeholder: '32 letters and digits' },
    { name: 'severity', choices: ['', 'critical', 'error', 'warning', 'info'], optional: true },
    { name: 'url', optional: true, placeholder: 'https://events.eu.pagerduty.com/v2/enqueue' },
  ],
};

export const TYPES = Object.keys(CONFIG) as ChannelType[];

export const NOTICE_KINDS = [
  'dead_letter.created',
  'dead_letter.resolved',
  'trigger.overdue',
  'trigger.recovered',
  'trigger.missed',
  'breaker.opened',
  'breaker.closed',
  'alert.firing',
  'alert.resolved',
] as const;

export const NEW_CHANNEL: ChannelDraft = {
  name: '',
  type: 'teams',
  enabled: true,
  language: 'en',
  kinds: [],
  workflows: '',
  config: {},
};

const lines = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

const isList = (field: ConfigField) => field.lines === true && field.name !== 'ca';

export function draftOf(channel: Channel): ChannelDraft {
  const shown = channel.config as Record<string, unknown>;
  const config: Record<string, string> = {};
  for (const field of CONFIG[channel.type]) {
    const value = shown[field.name];
    if (value === undefined || value === null) continue;
    config[field.name] = Array.isArray(value) ? value.join('\n') : String(value);
  }
  return {
    name: channel.name,
    type: channel.type,
    enabled: channel.enabled,
    language: channel.language,
    kinds: [...channel.kinds],
    workflows: channel.workflows.join('\n'),
    config,
  };
}

export function bodyOf(draft: ChannelDraft): ChannelBody {
  const config: Record<string, unknown> = {};
  for (const field of CONFIG[draft.type]) {
    const text = draft.config[field.name] ?? field.choices?.[0] ?? '';
    if (text.trim() === '') continue;
    if (isList(field)) config[field.name] = lines(text);
    else config[field.name] = field.number && /^\d+$/.test(text) ? Number(text) : text.trim();
  }
  return {
    name: draft.name,
    type: draft.type,
    enabled: draft.enabled,
    language: draft.language,
    kinds: draft.kinds,
    workflows: lines(draft.workflows),
    config,
  };
}
