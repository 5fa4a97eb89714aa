/** The columns of targets. */
import { ActionIcon, Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import type { Target, TargetAct } from '@/api/queries/targets';
import { formatNumber, t, word } from '@/i18n/t';
import { IconDots } from '@/ui/icons';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { Countdown, Time } from '@/ui/time/Time';
import { ACTS, failedShare, isAble } from './acts';
import classes from './targets.module.css';

export const counted = (count: number, exact: boolean) => formatNumber(count) + (exact ? '' : '+');

export function StateBadge({ target }: { target: Target }) {
  return (
    <Status
      value={`breaker_${target.state}`}
      label={
        target.forced
          ? t('targets.forced', { state: word('targets.state', target.state) })
          : word('targets.state', target.state)
      }
    />
  );
}

export function targetColumns(act: (target: Target, act: TargetAct) => void): Column<Target>[] {
  return [
    {
      id: 'host',
      header: t('targets.host'),
      width: 220,
      grow: 2,
      required: true,
      cell: (target) => (
        <code className={classes.cut} title={target.host}>
          {target.host}
        </code>
      ),
    },
    {
      id: 'state',
      header: t('targets.state'),
      width: 170,
      required: true,
      cell: (target) => <StateBadge target={target} />,
    },
    {
      id: 'next',
      header: t('targets.next'),
      width: 110,
      cell: (target) =>
        target.state === 'open' && target.until ? <Countdown to={target.until} /> : '',
    },
    {
      id: 'failed',
      header: t('targets.failed'),
      width: 150,
      cell: (target) => {
        const share = failedShare(target.window);
        if (share === undefined)
          return <span className={classes.muted}>{t('targets.noCalls')}</span>;
        const { calls, failed } = target.window;
        return t('targets.failedOf', {
          share,
          failed: formatNumber(failed),
          calls: formatNumber(calls),
        });
      },
    },
    {
      id: 'flight',
      header: t('targets.flight'),
      width: 84,
      align: 'end',
      cell: (target) =>
        target.in_flight_max === null || target.in_flight_max === undefined
          ? formatNumber(target.in_flight)
          : `${formatNumber(target.in_flight)} / ${formatNumber(target.in_flight_max)}`,
    },
    {
      id: 'parked',
      header: t('targets.parked'),
      width: 76,
      align: 'end',
      cell: (target) => counted(target.parked, target.parked_exact),
    },
    {
      id: 'letters',
      header: t('targets.letters'),
      width: 100,
      align: 'end',
      cell: (target) => (
        <Link to="/dlq" search={{ target: target.host, from: 'all' }} tabIndex={-1}>
          {counted(target.letters, target.letters_exact)}
        </Link>
      ),
    },
    {
      id: 'opened',
      header: t('targets.opened'),
      width: 110,
      cell: (target) => target.opened_at && <Time at={target.opened_at} />,
    },
    {
      id: 'actions',
      header: t('targets.actions'),
      width: 72,
      required: true,
      cell: (target) => <Actions target={target} act={act} />,
    },
  ];
}

function Actions({
  target,
  act,
}: {
  target: Target;
  act: (target: Target, act: TargetAct) => void;
}) {
  return (
    <Menu position="bottom-end" withinPortal>
      <Menu.Target>
        <ActionIcon
          size={24}
          aria-label={t('targets.actionsOf', { host: target.host })}
          onClick={(event) => event.stopPropagation()}
        >
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown onClick={(event) => event.stopPropagation()}>
        {ACTS.map((each) => (
          <Menu.Item key={each} disabled={!isAble(target, each)} onClick={() => act(target, each)}>
            {t('bulk.more', { action: word('targets.act', each) })}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
