/** The alerts: what fires first, what it is about, since when, and who is at it. */
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  type Alert,
  type AlertFilter,
  ackAlert,
  ackRequest,
  alertsKey,
  readAlerts,
} from '@/api/queries/alerts';
import { placeOf } from '@/app/search';
import { t, word } from '@/i18n/t';
import { useFollow } from '@/live/follow';
import { Confirm } from '@/ui/confirm/Confirm';
import { FilterBar } from '@/ui/filter/FilterBar';
import {
  checkFilter,
  type FilterField,
  type FilterValue,
  filterWords,
  isFiltered,
} from '@/ui/filter/filter';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { DataTable } from '@/ui/table/DataTable';
import { Time } from '@/ui/time/Time';
import { toastDone } from '@/ui/toast/toast';
import classes from './alerts.module.css';
import { alertsRoute } from './route';
import { SilenceDialog } from './SilenceDialog';

const rowKey = (alert: Alert) => alert.id;
const PHASES = ['firing', 'pending', 'resolved'] as const;

const alertFields = (): FilterField[] => [
  {
    key: 'phase',
    kind: 'choice',
    several: true,
    label: t('alerts.phase'),
    options: PHASES.map((value) => ({ value, label: word('alerts.phase', value) })),
  },
  { key: 'subject', kind: 'text', label: t('alerts.subject') },
  { key: 'rule_id', kind: 'text', label: t('alerts.rule') },
];

type Asking = { kind: 'ack' | 'silence'; alert: Alert };

export function Alerts() {
  const search = alertsRoute.useSearch();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [asking, setAsking] = useState<Asking>();
  const fields = useMemo(alertFields, []);
  const columns = useMemo(() => alertColumns(setAsking), []);
  const { value, wrong } = useMemo(() => checkFilter({ ...search }, fields), [search, fields]);
  const filter = value as AlertFilter;
  const queryKey = useMemo(() => [...alertsKey, 'list', filter], [filter]);
  const list = useFollow<Alert>({
    queryKey,
    page: (cursor, signal) => readAlerts(filter, cursor, signal),
    rowKey,
  });
  const go = (next: FilterValue) =>
    navigate({ to: '/alerts', search: next as Record<string, string> });
  return (
    <>
      <FilterBar
        fields={fields}
        value={value}
        wrong={wrong}
        onChange={go}
        noRange
        placeholder="phase:firing"
      />
      <DataTable
        id="alerts"
        label={t('alerts.alerts')}
        columns={columns}
        list={list}
        rowKey={rowKey}
        open={(alert) => navigate(placeOf(alert.path))}
        empty={{
          title: t('alerts.empty'),
          text: t('alerts.emptyText'),
          command: 'refire alerts list',
        }}
        filtered={
          isFiltered(value, fields)
            ? { words: filterWords(value, fields), clear: () => go({}) }
            : undefined
        }
      />
      {asking?.kind === 'ack' && (
        <Confirm
          opened
          onClose={() => setAsking(undefined)}
          title={t('alerts.ackTitle')}
          action={t('alerts.ack')}
          request={ackRequest(asking.alert.id)}
          run={async () => {
            await ackAlert(asking.alert.id);
            toastDone(t('alerts.acked'));
            client.invalidateQueries({ queryKey: alertsKey });
          }}
        >
          {t('alerts.ackText')}
        </Confirm>
      )}
      {asking?.kind === 'silence' && (
        <SilenceDialog
          rule={asking.alert.rule_id}
          subject={asking.alert.subject}
          close={() => setAsking(undefined)}
        />
      )}
    </>
  );
}

function alertColumns(ask: (asking: Asking) => void): Column<Alert>[] {
  return [
    {
      id: 'phase',
      header: t('alerts.phase'),
      width: 110,
      required: true,
      cell: (alert) => <Status value={alert.phase} label={word('alerts.phase', alert.phase)} />,
    },
    {
      id: 'rule',
      header: t('alerts.rule'),
      width: 150,
      grow: 2,
      required: true,
      cell: (alert) => <span title={alert.rule}>{alert.rule}</span>,
    },
    {
      id: 'subject',
      header: t('alerts.subject'),
      width: 140,
      grow: 2,
      cell: (alert) => (
        <Link {...placeOf(alert.path)} tabIndex={-1} title={alert.subject}>
          {alert.subject}
        </Link>
      ),
    },
    { id: 'value', header: t('alerts.value'), width: 76, cell: (alert) => alert.value_text },
    {
      id: 'since',
      header: t('alerts.since'),
      width: 104,
      cell: (alert) => <Time at={alert.since} />,
    },
    {
      id: 'told',
      header: t('alerts.told'),
      width: 104,
      cell: (alert) =>
        alert.muted ? (
          <span className={classes.muted}>{t('alerts.muted')}</span>
        ) : (
          alert.told_at && <Time at={alert.told_at} />
        ),
    },
    {
      id: 'acked',
      header: t('alerts.at'),
      width: 104,
      cell: (alert) =>
        alert.acked_at && (
          <span>
            {alert.acked_by} <Time at={alert.acked_at} />
          </span>
        ),
    },
    {
      id: 'actions',
      header: t('alerts.actions'),
      width: 176,
      required: true,
      cell: (alert) =>
        alert.phase !== 'resolved' && (
          <span className={classes.actions}>
            {alert.phase === 'firing' && !alert.acked_at && (
              <Act label={t('alerts.ack')} run={() => ask({ kind: 'ack', alert })} />
            )}
            <Act label={t('alerts.silence')} run={() => ask({ kind: 'silence', alert })} />
          </span>
        ),
    },
  ];
}

function Act({ label, run }: { label: string; run: () => void }) {
  return (
    <Button
      size="compact-xs"
      variant="default"
      onClick={(event) => {
        event.stopPropagation();
        run();
      }}
    >
      {label}
    </Button>
  );
}
