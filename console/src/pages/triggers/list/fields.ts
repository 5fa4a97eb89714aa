/** What triggers can be filtered by. */
import { call } from '@/api/client';
import type { Page } from '@/api/types';
import { t } from '@/i18n/t';
import type { FilterField } from '@/ui/filter/filter';

const yesNo = () => [
  { value: 'true', label: t('triggers.yes') },
  { value: 'false', label: t('triggers.no') },
];

export const triggerFields = (): FilterField[] => [
  {
    key: 'type',
    kind: 'choice',
    several: true,
    label: t('triggers.type'),
    options: [
      { value: 'cron', label: t('triggers.type.cron') },
      { value: 'schedule', label: t('triggers.type.schedule') },
      { value: 'webhook', label: t('triggers.type.webhook') },
    ],
  },
  {
    key: 'workflow',
    kind: 'text',
    label: t('triggers.workflow'),
    suggest: async () =>
      (
        await call<Page<{ workflow_id: string }>>('GET', '/api/workflows', {
          query: { limit: 200 },
        })
      ).items.map((row) => row.workflow_id),
  },
  { key: 'enabled', kind: 'choice', label: t('triggers.enabledField'), options: yesNo() },
  { key: 'overdue', kind: 'choice', label: t('triggers.overdueField'), options: yesNo() },
];
