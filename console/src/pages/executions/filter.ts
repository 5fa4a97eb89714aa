/** The filter of the executions list. */

import { t, word } from '@/i18n/t';
import { type Checked, checkFilter, type FilterField } from '@/ui/filter/filter';

export const STATUSES = [
  'pending',
  'running',
  'retrying',
  'waiting',
  'paused',
  'completed',
  'failed',
  'dlq',
  'cancelled',
] as const;

export const STARTED_BY = [
  'manual',
  'manual_dlq_retry',
  'cron',
  'schedule',
  'webhook',
  'amqp',
] as const;

export const FILTER_KEYS = [
  'status',
  'workflow',
  'trigger',
  'trigger_type',
  'error_type',
  'version',
  'key',
] as const;

/** The fields with their words; `suggest` reads the names of workflows. */
export function executionFields(suggest?: () => Promise<string[]>): FilterField[] {
  return [
    {
      key: 'status',
      label: t('executions.status'),
      kind: 'choice',
      several: true,
      options: STATUSES.map((value) => ({ value, label: word('status', value) })),
    },
    {
      key: 'workflow',
      label: t('executions.workflow'),
      kind: 'text',
      several: true,
      placeholder: 'crm_*',
      suggest,
    },
    {
      key: 'trigger_type',
      label: t('executions.startedBy'),
      kind: 'choice',
      several: true,
      options: STARTED_BY.map((value) => ({ value, label: word('executions.by', value) })),
    },
    { key: 'trigger', label: t('executions.trigger'), kind: 'text', placeholder: 'trg_…' },
    {
      key: 'error_type',
      label: t('executions.errorType'),
      kind: 'text',
      several: true,
      placeholder: 'http_5xx',
    },
    {
      key: 'version',
      label: t('executions.version'),
      kind: 'text',
      placeholder: '7',
      valid: (text) => /^[1-9]\d{0,8}$/.test(text),
    },
    { key: 'key', label: t('executions.key'), kind: 'text' },
  ];
}

export function parseExecutionFilter(search: Record<string, unknown>): Checked {
  return checkFilter(search, executionFields());
}
