/** What is wrong now, worst first, each with one way to go on. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { type Trouble, troubleQuery } from '@/api/queries/overview';
import { placeOf } from '@/app/search';
import { formatNumber, language, rich, t, word } from '@/i18n/t';
import {
  IconAlertTriangle,
  IconArrowRight,
  IconCircleCheck,
  IconFlame,
  IconInfoCircle,
} from '@/ui/icons';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Time } from '@/ui/time/Time';
import classes from './overview.module.css';

const SHOWN = 8;
const ICONS = { critical: IconFlame, warning: IconAlertTriangle, info: IconInfoCircle };

export function TroubleList() {
  const query = useQuery(troubleQuery);
  const { data } = query;
  if (data === null) return null;
  const items = data?.items ?? [];
  return (
    <Panel
      title={
        <>
          {t('overview.trouble')}{' '}
          {items.length > 0 && <span className={classes.count}>{items.length}</span>}
        </>
      }
    >
      {query.isPending && <Skeleton rows={3} />}
      {query.isError && <ProblemView error={query.error} retry={() => query.refetch()} />}
      {data && items.length === 0 && (
        <p className={classes.quiet}>
          <IconCircleCheck size={16} aria-hidden="true" />
          {data.quiet_since
            ? rich('overview.quietSince', { time: <Time at={data.quiet_since} as="full" /> })
            : t('overview.quiet')}
        </p>
      )}
      {items.length > 0 && (
        <ul className={classes.troubles}>
          {items.slice(0, SHOWN).map((item) => (
            <Row key={`${item.kind} ${item.subject}`} item={item} />
          ))}
          {items.length > SHOWN && (
            <li className={classes.muted}>
              {t('overview.more', { count: formatNumber(items.length - SHOWN) })}
            </li>
          )}
        </ul>
      )}
    </Panel>
  );
}

function Row({ item }: { item: Trouble }) {
  const Icon = ICONS[item.severity] ?? IconInfoCircle;
  return (
    <li className={classes.trouble} data-severity={item.severity}>
      <Icon size={16} aria-hidden="true" />
      <span className="hidden-text">{word('overview.severity', item.severity)}</span>
      <Link {...placeOf(item.path)} className={classes.troubleText}>
        {language() === 'zh-TW' ? item.text_zh : item.text}
        <IconArrowRight size={13} aria-hidden="true" />
      </Link>
      {item.since && (
        <span className={classes.muted}>
          <Time at={item.since} />
        </span>
      )}
    </li>
  );
}
