/** Columns of the list of triggers. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { slotStrip, type Trigger } from '@/api/queries/triggers';
import { newestRequests } from '@/api/queries/webhooks';
import { t, word } from '@/i18n/t';
import { CopyId } from '@/ui/copy/CopyId';
import { IconBolt, IconCalendarRepeat, IconClock, IconPlayerPlay, IconWebhook } from '@/ui/icons';
import { MiniStrip } from '@/ui/strip/Strip';
import type { Column } from '@/ui/table/columns';
import { Time } from '@/ui/time/Time';
import { EnableSwitch } from '../EnableSwitch';
import { StateBadge } from '../StateBadge';
import { countLooks, ledgerCell, localText, lookWords, requestCell } from '../slots';
import classes from '../triggers.module.css';
import { shortWords } from '../words';

const STRIP = 30;
const ICON = { cron: IconClock, schedule: IconCalendarRepeat, webhook: IconWebhook };

export function TypeIcon({ type }: { type: string }) {
  const Icon = ICON[type as keyof typeof ICON] ?? IconBolt;
  return <Icon size={15} stroke={1.5} className={classes.icon} aria-hidden="true" />;
}

export function triggerColumns(run: (trigger: Trigger) => void): Column<Trigger>[] {
  return [
    {
      id: 'state',
      header: t('triggers.state'),
      width: 104,
      required: true,
      cell: (row) => <StateBadge trigger={row} />,
    },
    {
      id: 'when',
      header: t('triggers.when'),
      width: 260,
      grow: 3,
      required: true,
      cell: (row) => <When trigger={row} />,
    },
    {
      id: 'workflow',
      header: t('triggers.workflow'),
      width: 150,
      grow: 1,
      cell: (row) => (
        <Link
          to="/workflows/$id"
          params={{ id: row.workflow_id }}
          tabIndex={-1}
          title={row.workflow_id}
        >
          {row.workflow_id}
        </Link>
      ),
    },
    { id: 'next', header: t('triggers.next'), width: 290, cell: (row) => <Next trigger={row} /> },
    {
      id: 'strip',
      header: t('triggers.last30'),
      width: 136,
      cell: (row) => <Last trigger={row} />,
    },
    {
      id: 'enabled',
      header: t('triggers.enabledField'),
      width: 72,
      cell: (row) => <EnableSwitch trigger={row} />,
    },
    {
      id: 'run',
      header: t('triggers.run'),
      width: 56,
      cell: (row) => (
        <Tooltip label={t('triggers.runNow')}>
          <ActionIcon
            size={24}
            tabIndex={-1}
            aria-label={t('triggers.runNow')}
            disabled={row.workflow_deleted === true || !!row.problem}
            onClick={() => run(row)}
          >
            <IconPlayerPlay size={14} stroke={1.5} />
          </ActionIcon>
        </Tooltip>
      ),
    },
    {
      id: 'id',
      header: t('triggers.id'),
      width: 150,
      optional: true,
      cell: (row) => <CopyId id={row.id} plain />,
    },
    {
      id: 'updated',
      header: t('triggers.updated'),
      width: 110,
      optional: true,
      cell: (row) => <Time at={row.updated_at} />,
    },
  ];
}

function When({ trigger }: { trigger: Trigger }) {
  const words = shortWords(trigger);
  const name = typeof trigger.name === 'string' ? trigger.name : '';
  const reason = trigger.problem ?? undefined;
  return (
    <>
      <TypeIcon type={trigger.trigger_type} />
      <Link
        to="/triggers/$id"
        params={{ id: trigger.id }}
        tabIndex={-1}
        className={classes.name}
        title={reason ?? [name, words].filter(Boolean).join(' – ')}
      >
        {name || words || word('triggers.type', trigger.trigger_type)}
      </Link>
      {name && !reason && <span className={classes.words}>{words}</span>}
      {reason && <span className={classes.why}>{reason}</span>}
    </>
  );
}

function Next({ trigger }: { trigger: Trigger }) {
  if (trigger.trigger_type === 'webhook')
    return <span className={classes.muted}>{t('triggers.onRequest')}</span>;
  if (!trigger.next_execution) return <span className={classes.muted}>–</span>;
  return (
    <span className={classes.next}>
      {localText(trigger.next_execution)}
      <span className={classes.countdown}>
        <Time at={trigger.next_execution} zone={String(trigger.timezone ?? 'UTC')} />
      </span>
    </span>
  );
}

function Last({ trigger }: { trigger: Trigger }) {
  return trigger.trigger_type === 'webhook' ? (
    <LastRequests id={trigger.id} />
  ) : (
    <LastSlots id={trigger.id} />
  );
}

function LastSlots({ id }: { id: string }) {
  const { data } = useQuery(slotStrip(id, STRIP));
  if (!data) return null;
  if (data.length === 0) return <span className={classes.muted}>–</span>;
  const label = countLooks(data)
    .map(([look, count]) => `${lookWords(look)} ${count}`)
    .join(', ');
  return <MiniStrip cells={data.map(ledgerCell).reverse()} label={label} />;
}

function LastRequests({ id }: { id: string }) {
  const { data } = useQuery({ ...newestRequests(id, STRIP), refetchInterval: 15_000 });
  if (!data) return null;
  if (data.length === 0) return <span className={classes.muted}>–</span>;
  const label = t('triggers.lastRequests', { count: data.length });
  return <MiniStrip cells={data.map(requestCell).reverse()} label={label} />;
}
