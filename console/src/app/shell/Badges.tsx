/** Numbers beside pages in the navigation: what waits for somebody, what goes on. */
import { type UseQueryOptions, useQuery } from '@tanstack/react-query';
import { openJobs } from '@/api/queries/bulk';
import { letterCount } from '@/api/queries/counts';
import { formatNumber } from '@/i18n/t';
import classes from './shell.module.css';

export function Badges({ page }: { page: string }) {
  if (page === '/dlq') return <Badge count={letterCount} />;
  if (page === '/bulk') return <Badge count={openJobs} />;
  return null;
}

function Badge<Key extends readonly unknown[]>({
  count,
}: {
  count: UseQueryOptions<number, Error, number, Key>;
}) {
  const { data } = useQuery(count);
  if (!data) return null;
  return <span className={classes.badge}>{formatNumber(data)}</span>;
}
