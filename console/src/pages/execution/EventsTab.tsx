/** The log: by type, step, attempt and text; an event opens below its row; the whole can be saved. */
import { Button, Select, TextInput } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { stringifyExact } from '@/api/exact';
import { logQuery } from '@/api/queries/log';
import type { Event } from '@/api/types';
import { t } from '@/i18n/t';
import { formatDuration } from '@/time/format';
import { IconDownload } from '@/ui/icons';
import { download } from '@/ui/json/Download';
import { Json } from '@/ui/json/Json';
import type { Column } from '@/ui/table/columns';
import { DataTable } from '@/ui/table/DataTable';
import { plainList } from '@/ui/table/list';
import { Time } from '@/ui/time/Time';
import { filterEvents, type Wanted } from './events';
import classes from './execution.module.css';

/** Longer logs are read again only when asked. */
const FOLLOWED = 2_000;
const OPEN_EVERY_MS = 3_000;

const NONE: Event[] = [];
const rowKey = (event: Event) => String(event.sequence);

function columns(): Column<Event>[] {
  return [
    { id: 'n', header: '#', width: 72, required: true, cell: (event) => event.sequence },
    {
      id: 'time',
      header: t('execution.time'),
      width: 110,
      cell: (event) => <Time at={event.timestamp} as="clock" />,
    },
    {
      id: 'type',
      header: t('execution.type'),
      width: 200,
      required: true,
      cell: (event) => <code>{event.event_type}</code>,
    },
    {
      id: 'step',
      header: t('execution.step'),
      width: 140,
      grow: 1,
      cell: (event) => <code>{event.step_id}</code>,
    },
    {
      id: 'attempt',
      header: t('execution.attempt'),
      width: 76,
      align: 'end',
      cell: (event) => event.attempt_number,
    },
    {
      id: 'backoff',
      header: t('execution.backoffBefore'),
      width: 92,
      align: 'end',
      cell: (event) => event.backoff_delay_ms && formatDuration(event.backoff_delay_ms),
    },
    {
      id: 'reason',
      header: t('execution.reason'),
      width: 200,
      grow: 3,
      cell: (event) => <span title={event.failure_reason ?? ''}>{event.failure_reason}</span>,
    },
  ];
}

export default function EventsTab({ id, open }: { id: string; open: boolean }) {
  const log = useQuery({
    ...logQuery(id),
    refetchInterval: (query) =>
      open && (query.state.data?.events.length ?? 0) < FOLLOWED ? OPEN_EVERY_MS : false,
  });
  const [wanted, setWanted] = useState<Wanted>({ text: '' });
  const all = log.data?.events ?? NONE;
  const rows = useMemo(() => filterEvents(all, wanted), [all, wanted]);
  const list = plainList<Event>({ ...log, data: rows });
  const shown = useMemo(columns, []);
  const values = (of: (event: Event) => string | null | undefined) =>
    [...new Set(all.map(of))].filter((value): value is string => !!value);
  const filtered = !!(wanted.type || wanted.step || wanted.attempt || wanted.text.trim());

  return (
    <div className={classes.events}>
      <div className={classes.eventBar}>
        <TextInput
          aria-label={t('execution.eventText')}
          placeholder={t('execution.eventText')}
          value={wanted.text}
          onChange={(event) => setWanted({ ...wanted, text: event.currentTarget.value })}
        />
        <Pick
          label={t('execution.type')}
          data={values((event) => event.event_type)}
          value={wanted.type}
          set={(type) => setWanted({ ...wanted, type })}
        />
        <Pick
          label={t('execution.step')}
          data={values((event) => event.step_id)}
          value={wanted.step}
          set={(step) => setWanted({ ...wanted, step })}
        />
        <Pick
          label={t('execution.attempt')}
          data={values((event) => event.attempt_number?.toString())}
          value={wanted.attempt}
          set={(attempt) => setWanted({ ...wanted, attempt })}
        />
        <Button
          variant="default"
          leftSection={<IconDownload size={14} />}
          disabled={all.length === 0}
          onClick={() =>
            download(
              `${id}-events.ndjson`,
              all.map((event) => `${stringifyExact(event)}\n`).join(''),
              'application/x-ndjson',
            )
          }
        >
          {t('common.download')}
        </Button>
      </div>
      <div className={classes.eventTable}>
        <DataTable
          id="events"
          label={t('execution.events')}
          columns={shown}
          list={list}
          rowKey={rowKey}
          detail={(event) => (
            <Json value={event.payload} label={event.event_type} file={`${id}-${event.sequence}`} />
          )}
          summary={t('execution.eventCount', { count: rows.length, total: all.length })}
          empty={{ title: t('execution.noEvents') }}
          filtered={filtered ? { words: '', clear: () => setWanted({ text: '' }) } : undefined}
        />
      </div>
    </div>
  );
}

function Pick({
  label,
  data,
  value,
  set,
}: {
  label: string;
  data: string[];
  value: string | undefined;
  set: (value: string | undefined) => void;
}) {
  return (
    <Select
      aria-label={label}
      placeholder={label}
      data={data}
      value={value ?? null}
      onChange={(next) => set(next ?? undefined)}
      clearable
      searchable={data.length > 8}
    />
  );
}
