/** The bar under the header: what is true of the whole server. */

import { t } from '@/i18n/t';
import { useNow } from '@/live/clock';
import { useLostSince } from '@/live/reach';
import { formatRelative } from '@/time/format';
import { IconAlertTriangle, IconInfoCircle } from '@/ui/icons';
import { useSession } from '../session/session';
import classes from './shell.module.css';

export function Bar() {
  const lost = useLostSince();
  const session = useSession();
  if (lost !== undefined) return <Lost since={lost} />;
  if (!session?.dev) return null;
  return (
    <div className={classes.bar} data-tone="info" role="note">
      <IconInfoCircle size={14} aria-hidden="true" />
      {t('shell.dev')}
    </div>
  );
}

function Lost({ since }: { since: number }) {
  const now = useNow();
  const away = Date.now() - since;
  return (
    <div className={classes.bar} data-tone="bad" role="alert">
      <IconAlertTriangle size={14} aria-hidden="true" />
      {t('shell.lost', { since: formatRelative(now - away, now) })}
    </div>
  );
}
