/** Numbers beside pages in the navigation: the dead letters that wait for somebody. */
import { useQuery } from '@tanstack/react-query';
import { letterCount } from '@/api/queries/counts';
import { formatNumber } from '@/i18n/t';
import classes from './shell.module.css';

export function Badges({ page }: { page: string }) {
  return page === '/dlq' ? <DeadLetters /> : null;
}

function DeadLetters() {
  const { data } = useQuery(letterCount);
  if (!data) return null;
  return <span className={classes.badge}>{formatNumber(data)}</span>;
}
