/** Triggers in words of the page's language. */
import type { Trigger } from '@/api/queries/triggers';
import { language, t, word } from '@/i18n/t';

/** What the server says in both languages, in ours. */
export function ours(en: string, zh: string | null | undefined): string {
  return language() === 'zh-TW' && zh ? zh : en;
}

/** When it fires, with everything about clock changes. */
export function whenWords(trigger: Trigger): string | undefined {
  const words = trigger.description_in_words;
  return words ? ours(words.en, words['zh-TW']) : undefined;
}

/** Only the first sentence, for lists. */
export function shortWords(trigger: Trigger): string {
  if (trigger.trigger_type === 'webhook') return webhookWords(trigger);
  const words = whenWords(trigger);
  if (words) return words.split(/(?<=\))\. |。/)[0]!;
  return String(trigger.cron_expression ?? trigger.every ?? '');
}

function webhookWords(trigger: Trigger): string {
  const said = String(trigger.authentication ?? '');
  const method = said === 'none' ? t('triggers.unverified') : word('webhook.method', said);
  const count = Array.isArray(trigger.filters) ? trigger.filters.length : 0;
  const parts = [t('triggers.type.webhook'), method];
  if (count > 0) parts.push(t('triggers.conditions', { count }));
  return parts.join(' · ');
}

/** What people call it: its name, else what it does. */
export function titleOf(trigger: Trigger): string {
  return typeof trigger.name === 'string' && trigger.name ? trigger.name : shortWords(trigger);
}

/** The state that decides whether it starts anything. */
export type TriggerState = 'enabled' | 'disabled' | 'overdue' | 'broken' | 'finished';

export function stateOf(trigger: Trigger): TriggerState {
  if (trigger.problem) return 'broken';
  if (trigger.overdue_since) return 'overdue';
  if (!trigger.enabled) return 'disabled';
  return trigger.finished ? 'finished' : 'enabled';
}
