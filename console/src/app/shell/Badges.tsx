/** Numbers beside pages in the navigation: what waits for somebody, what goes on. */
import { type UseQueryOptions, useQuery } from '@tanstack/react-query';
import { firingAlerts } from '@/api/queries/alerts';
import { openJobs } from '@/api/queries/bulk';
import { brokenChannels } from '@/api/queries/channels';
import { letterCount } from '@/api/queries/counts';
import { formatNumber } from '@/i18n/t';
import classes from './shell.module.css';

export function Badges({ page }: { page: string }) {
  if (page === '/dlq') return <Badge count={letterCount} />;
  if (page === '/bulk') return <Badge count={openJobs} />;
  if (page === '/alerts') return <Badge count={firingAlerts} />;
  if (page === '/channels') return <BrokenChannels />;
  return null;
}

function Badge<Key extends readonly unknown[]>({
  count,
}: {
  count: UseQueryOptions<number, Error, number, Key>;
}) {
  const { data } = useQuery(count);
  return <Shown count={data} />;
}

function Shown({ count }: { count: number | undefined }) {
  if (!count) return null;
  return <span className={classes.badge}>{formatNumber(count)}</span>;
}

function BrokenChannels() {
  const { data } = useQuery(brokenChannels);
  return <Shown count={data} />;
}
