/** How many executions match, by status; each number leads to its rows. */
import { UnstyledButton } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type ExecutionFilter, executionCount } from '@/api/queries/executions';
import { formatNumber, t, word } from '@/i18n/t';
import { LIST_EVERY_MS } from '@/live/follow';
import { toneOf } from '@/ui/status/status';
import classes from './executions.module.css';
import { STATUSES } from './filter';

interface CountsProps {
  filter: ExecutionFilter;
  change: (next: ExecutionFilter) => void;
}

export function Counts({ filter, change }: CountsProps) {
  const { data } = useQuery(executionCount(filter, LIST_EVERY_MS));
  if (!data) return null;
  const shown = STATUSES.filter((status) => data.by_status[status]);
  return (
    <>
      <span className={classes.total}>
        {t('executions.total', {
          count: data.total,
          total: formatNumber(data.total) + (data.exact ? '' : '+'),
        })}
      </span>
      {shown.map((status) => (
        <UnstyledButton
          key={status}
          className={classes.count}
          data-tone={toneOf(status)}
          onClick={() => change({ ...filter, status })}
        >
          <span className={classes.dot} aria-hidden="true" />
          {word('status', status)} {formatNumber(data.by_status[status] ?? 0)}
        </UnstyledButton>
      ))}
    </>
  );
}
