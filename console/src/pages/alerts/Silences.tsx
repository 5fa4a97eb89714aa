/** The silences: until when nobody is told of what, and why. */
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import {
  alertsKey,
  endSilence,
  endSilenceRequest,
  type Silence,
  silencesKey,
  silencesQuery,
} from '@/api/queries/alerts';
import { t, word } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { IconPlus } from '@/ui/icons';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { DataTable } from '@/ui/table/DataTable';
import { plainList } from '@/ui/table/list';
import { Time } from '@/ui/time/Time';
import { toastDone } from '@/ui/toast/toast';
import classes from './alerts.module.css';
import { SilenceDialog } from './SilenceDialog';

const rowKey = (silence: Silence) => silence.id;
const LOOK = { active: 'paused', planned: 'planned', over: 'finished' };

export function Silences() {
  const client = useQueryClient();
  const query = useQuery(silencesQuery);
  const [making, setMaking] = useState(false);
  const [ending, setEnding] = useState<Silence>();
  const columns = useMemo(() => silenceColumns(setEnding), []);
  return (
    <>
      <div className={classes.head}>
        <p className={classes.text}>{t('alerts.silencesText')}</p>
        <Button leftSection={<IconPlus size={14} />} onClick={() => setMaking(true)}>
          {t('alerts.newSilence')}
        </Button>
      </div>
      <DataTable
        id="silences"
        label={t('alerts.silences')}
        columns={columns}
        list={plainList(query)}
        rowKey={rowKey}
        empty={{
          title: t('alerts.noSilences'),
          text: t('alerts.noSilencesText'),
          command: 'refire alerts silences list',
        }}
      />
      {making && <SilenceDialog close={() => setMaking(false)} />}
      {ending && (
        <Confirm
          opened
          onClose={() => setEnding(undefined)}
          title={t('alerts.endTitle')}
          action={t('alerts.end')}
          request={endSilenceRequest(ending.id)}
          run={async () => {
            await endSilence(ending.id);
            toastDone(t('alerts.endDone'));
            client.invalidateQueries({ queryKey: silencesKey });
            client.invalidateQueries({ queryKey: alertsKey });
          }}
        >
          {t('alerts.endText')}
        </Confirm>
      )}
    </>
  );
}

function silenceColumns(end: (silence: Silence) => void): Column<Silence>[] {
  return [
    {
      id: 'state',
      header: t('alerts.state'),
      width: 110,
      required: true,
      cell: (silence) => (
        <Status value={LOOK[silence.state]} label={word('alerts.state', silence.state)} />
      ),
    },
    {
      id: 'rule',
      header: t('alerts.rule'),
      width: 180,
      grow: 2,
      required: true,
      cell: (silence) => silence.rule ?? silence.rule_id ?? t('alerts.everyRule'),
    },
    {
      id: 'subject',
      header: t('alerts.subject'),
      width: 150,
      grow: 1,
      cell: (silence) => silence.subject ?? t('alerts.everySubject'),
    },
    {
      id: 'from',
      header: t('alerts.from'),
      width: 150,
      cell: (silence) => <Time at={silence.starts_at} as="full" />,
    },
    {
      id: 'to',
      header: t('alerts.to'),
      width: 150,
      cell: (silence) => <Time at={silence.ends_at} as="full" />,
    },
    {
      id: 'comment',
      header: t('alerts.comment'),
      width: 180,
      grow: 2,
      cell: (silence) => <span title={silence.comment ?? ''}>{silence.comment}</span>,
    },
    { id: 'by', header: t('alerts.by'), width: 100, cell: (silence) => silence.created_by },
    {
      id: 'actions',
      header: t('alerts.actions'),
      width: 84,
      required: true,
      cell: (silence) => (
        <Button size="compact-xs" variant="default" onClick={() => end(silence)}>
          {t(silence.state === 'over' ? 'alerts.forget' : 'alerts.end')}
        </Button>
      ),
    },
  ];
}
