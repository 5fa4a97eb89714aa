/** The filters of dead letters. Without a range of time in the URL, the last seven days are shown. */
import type { LetterFilter } from '@/api/queries/dlq';
import { t, word } from '@/i18n/t';
import { checkFilter, type FilterField, type FilterValue } from '@/ui/filter/filter';

const DEFAULT_FROM = '-7d';
/** In the URL: no limit in time. */
const ALL = 'all';

const STATUSES = ['pending', 'retrying', 'resolved', 'deleted'];

export function letterFields(suggest: {
  workflows: () => Promise<string[]>;
  errors: () => Promise<string[]>;
}): FilterField[] {
  return [
    { key: 'workflow', kind: 'text', label: t('dlq.filter.workflow'), suggest: suggest.workflows },
    {
      key: 'error_type',
      kind: 'text',
      several: true,
      label: t('dlq.filter.error'),
      suggest: suggest.errors,
    },
    {
      key: 'status',
      kind: 'choice',
      several: true,
      label: t('dlq.filter.status'),
      options: STATUSES.map((value) => ({ value, label: word('status', value) })),
    },
    { key: 'fingerprint', kind: 'text', label: t('dlq.filter.cause') },
    { key: 'target', kind: 'text', label: t('dlq.filter.target') },
    {
      key: 'archived',
      kind: 'choice',
      label: t('dlq.filter.archived'),
      options: (['true', 'all'] as const).map((value) => ({
        value,
        label: word('dlq.archived', value),
      })),
    },
  ];
}

/** What the URL asks for, with the range of time that applies. */
export function readFilter(search: Record<string, string | undefined>, fields: FilterField[]) {
  const open = search.from === ALL;
  const { value, wrong } = checkFilter({ ...search, from: open ? undefined : search.from }, fields);
  // What is archived is older than the default.
  if (!open && !value.archived && !value.from && !value.to) value.from = DEFAULT_FROM;
  return { value, wrong, asked: value as LetterFilter };
}

/** The search for the URL: the default range is left out, no range at all is said. */
export function writeFilter(next: FilterValue): FilterValue {
  const written = { ...next };
  if ('from' in next && !next.from && !next.to) written.from = ALL;
  if (next.from === DEFAULT_FROM && !next.to) delete written.from;
  return written;
}

/** Whether the filter is more than the default range. */
export function isNarrowed(asked: LetterFilter): boolean {
  return Boolean(
    asked.workflow ||
      asked.error_type ||
      asked.status ||
      asked.q ||
      asked.fingerprint ||
      asked.archived ||
      asked.target ||
      asked.to ||
      (asked.from && asked.from !== DEFAULT_FROM),
  );
}
