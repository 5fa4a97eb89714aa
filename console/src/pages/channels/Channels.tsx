/** The list of channels: what each is told, whether it works, a test, a switch. */
import { ActionIcon, Button, Menu, Switch } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  type Channel,
  channelsKey,
  channelsQuery,
  deleteChannel,
  deleteRequest,
  switchChannel,
} from '@/api/queries/channels';
import { t, word } from '@/i18n/t';
import { Confirm } from '@/ui/confirm/Confirm';
import { IconDots } from '@/ui/icons';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { DataTable } from '@/ui/table/DataTable';
import { plainList } from '@/ui/table/list';
import { Time } from '@/ui/time/Time';
import { toastDone, toastProblem } from '@/ui/toast/toast';
import classes from './channels.module.css';
import { TestDialog } from './TestDialog';

const rowKey = (channel: Channel) => channel.id;

interface ChannelsProps {
  edit: (channel: Channel) => void;
  make: () => void;
}

type Asking = { kind: 'test' | 'delete'; channel: Channel };

export function Channels({ edit, make }: ChannelsProps) {
  const client = useQueryClient();
  const query = useQuery(channelsQuery);
  const [asking, setAsking] = useState<Asking>();
  const columns = useMemo(() => {
    const turn = async (channel: Channel, on: boolean) => {
      try {
        await switchChannel(channel.id, on);
        toastDone(t(on ? 'channels.enabled' : 'channels.disabled', { name: channel.name }));
      } catch (error) {
        toastProblem(error);
      }
      client.invalidateQueries({ queryKey: channelsKey });
    };
    return channelColumns({ ask: setAsking, edit, turn });
  }, [client, edit]);
  return (
    <>
      <DataTable
        id="channels"
        label={t('channels.channels')}
        columns={columns}
        list={plainList(query)}
        rowKey={rowKey}
        open={edit}
        empty={{
          title: t('channels.empty'),
          text: t('channels.emptyText'),
          children: <Button onClick={make}>{t('channels.new')}</Button>,
          command: 'refire channels create --help',
        }}
      />
      {asking?.kind === 'test' && (
        <TestDialog channel={asking.channel} close={() => setAsking(undefined)} />
      )}
      {asking?.kind === 'delete' && (
        <Confirm
          opened
          danger
          onClose={() => setAsking(undefined)}
          title={t('channels.deleteTitle', { name: asking.channel.name })}
          action={t('channels.delete')}
          request={deleteRequest(asking.channel.id)}
          run={async () => {
            await deleteChannel(asking.channel.id);
            toastDone(t('channels.deleted'));
            client.invalidateQueries({ queryKey: channelsKey });
          }}
        >
          {t('channels.deleteText')}
        </Confirm>
      )}
    </>
  );
}

/** What a channel is told, in few words. */
function wantsWords(channel: Channel): string {
  const kinds =
    channel.kinds.length === 0
      ? t('channels.everything')
      : channel.kinds.map((kind) => word('channels.kind', kind)).join(', ');
  return channel.workflows.length === 0
    ? kinds
    : t('channels.ofWorkflows', { kinds, workflows: channel.workflows.join(', ') });
}

function State({ channel }: { channel: Channel }) {
  if (!channel.enabled) return <Status value="disabled" />;
  if (channel.broken)
    return (
      <span title={channel.broken.error}>
        <Status value="broken" />
      </span>
    );
  return <Status value="enabled" />;
}

interface ColumnActs {
  ask: (asking: Asking) => void;
  edit: (channel: Channel) => void;
  turn: (channel: Channel, on: boolean) => void;
}

function channelColumns({ ask, edit, turn }: ColumnActs): Column<Channel>[] {
  return [
    {
      id: 'state',
      header: t('channels.state'),
      width: 110,
      required: true,
      cell: (channel) => <State channel={channel} />,
    },
    {
      id: 'name',
      header: t('channels.name'),
      width: 160,
      grow: 1,
      required: true,
      cell: (channel) => <span title={channel.name}>{channel.name}</span>,
    },
    {
      id: 'type',
      header: t('channels.type'),
      width: 120,
      cell: (channel) => word('channels.type', channel.type),
    },
    {
      id: 'wants',
      header: t('channels.wants'),
      width: 220,
      grow: 3,
      cell: (channel) => (
        <span className={classes.cut} title={wantsWords(channel)}>
          {wantsWords(channel)}
        </span>
      ),
    },
    {
      id: 'broken',
      header: t('channels.trouble'),
      width: 200,
      grow: 2,
      cell: (channel) =>
        channel.broken && (
          <span className={classes.cut} title={channel.broken.error}>
            <Link
              to="/channels"
              search={{ tab: 'deliveries', channel: channel.id, status: 'failed' }}
              tabIndex={-1}
            >
              <Time at={channel.broken.since} />
            </Link>{' '}
            {channel.broken.error}
          </span>
        ),
    },
    {
      id: 'actions',
      header: t('channels.actions'),
      width: 190,
      required: true,
      cell: (channel) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: buttons in a row do not open it
        // biome-ignore lint/a11y/useKeyWithClickEvents: as above
        <span className={classes.actions} onClick={(event) => event.stopPropagation()}>
          <Switch
            size="xs"
            aria-label={t('channels.enable', { name: channel.name })}
            checked={channel.enabled}
            onChange={(event) => turn(channel, event.currentTarget.checked)}
          />
          <Button
            size="compact-xs"
            variant="default"
            onClick={() => ask({ kind: 'test', channel })}
          >
            {t('channels.test')}
          </Button>
          <Menu position="bottom-end" withinPortal>
            <Menu.Target>
              <ActionIcon size={24} aria-label={t('channels.actionsOf', { name: channel.name })}>
                <IconDots size={16} />
              </ActionIcon>
            </Menu.Target>
            <Menu.Dropdown>
              <Menu.Item onClick={() => edit(channel)}>{t('channels.edit')}</Menu.Item>
              <Menu.Item color="danger" onClick={() => ask({ kind: 'delete', channel })}>
                {t('channels.deleteMore')}
              </Menu.Item>
            </Menu.Dropdown>
          </Menu>
        </span>
      ),
    },
  ];
}
