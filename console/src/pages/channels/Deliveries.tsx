/** Every message to people, newest first: what about, how far, what went wrong; and once more. */
import { Button } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  channelsQuery,
  isUnderWay,
  type Notification,
  type NotificationFilter,
  notificationsKey,
  readNotifications,
  resend,
  resendRequest,
} from '@/api/queries/channels';
import { formatNumber, t, word } from '@/i18n/t';
import { useFollow } from '@/live/follow';
import { Confirm } from '@/ui/confirm/Confirm';
import { CopyId } from '@/ui/copy/CopyId';
import { FilterBar } from '@/ui/filter/FilterBar';
import {
  checkFilter,
  type FilterField,
  type FilterValue,
  filterWords,
  isFiltered,
} from '@/ui/filter/filter';
import { Facts } from '@/ui/page/Page';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { DataTable } from '@/ui/table/DataTable';
import { Time } from '@/ui/time/Time';
import { toastDone } from '@/ui/toast/toast';
import classes from './channels.module.css';
import { channelsRoute } from './route';

const rowKey = (message: Notification) => message.id;
const STATUSES = ['sending', 'retrying', 'accepted', 'failed', 'cancelled'] as const;

export function Deliveries() {
  const search = channelsRoute.useSearch();
  const navigate = useNavigate();
  const client = useQueryClient();
  const channels = useQuery(channelsQuery);
  const [again, setAgain] = useState<Notification>();
  const fields = useMemo(
    (): FilterField[] => [
      {
        key: 'channel',
        kind: 'choice',
        label: t('channels.channel'),
        options: (channels.data ?? []).map(({ id, name }) => ({ value: id, label: name })),
      },
      {
        key: 'status',
        kind: 'choice',
        several: true,
        label: t('channels.state'),
        options: STATUSES.map((value) => ({ value, label: word('channels.status', value) })),
      },
    ],
    [channels.data],
  );
  const text = JSON.stringify(search);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text says everything of the search
  const { value, wrong } = useMemo(() => checkFilter(search, fields), [text, fields]);
  const filter = value as NotificationFilter;
  const filterText = JSON.stringify(filter);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const queryKey = useMemo(() => [...notificationsKey, 'list', filter], [filterText]);
  const list = useFollow<Notification>({
    queryKey,
    page: (cursor, signal) => readNotifications(filter, cursor, signal),
    rowKey,
  });
  const columns = useMemo(() => deliveryColumns(setAgain), []);
  const go = (next: FilterValue, replace = false) =>
    navigate({
      to: '/channels',
      search: { ...(next as Record<string, string>), tab: 'deliveries' },
      replace,
    });
  return (
    <>
      <FilterBar
        fields={fields}
        value={value}
        wrong={channels.data ? wrong : []}
        onChange={(next) => go(next)}
        noRange
      />
      <DataTable
        id="deliveries"
        label={t('channels.deliveries')}
        columns={columns}
        list={list}
        rowKey={rowKey}
        expanded={search.open}
        onExpand={(open) => go({ ...value, open }, true)}
        detail={(message) => <Detail message={message} />}
        empty={{
          title: t('channels.noDeliveries'),
          text: t('channels.noDeliveriesText'),
          command: 'refire notifications list',
        }}
        filtered={
          isFiltered(value, fields)
            ? { words: filterWords(value, fields), clear: () => go({}) }
            : undefined
        }
      />
      {again && (
        <Confirm
          opened
          onClose={() => setAgain(undefined)}
          title={t('channels.resendTitle')}
          action={t('channels.resend')}
          request={resendRequest(again.id)}
          run={async () => {
            await resend(again.id);
            toastDone(t('channels.resent'));
            client.invalidateQueries({ queryKey: notificationsKey });
          }}
        >
          {t('channels.resendText', { name: again.channel_name ?? again.channel_id })}
        </Confirm>
      )}
    </>
  );
}

function deliveryColumns(again: (message: Notification) => void): Column<Notification>[] {
  return [
    {
      id: 'status',
      header: t('channels.state'),
      width: 120,
      required: true,
      cell: (message) => (
        <Status value={message.status} label={word('channels.status', message.status)} />
      ),
    },
    {
      id: 'channel',
      header: t('channels.channel'),
      width: 130,
      cell: (message) => message.channel_name ?? t('channels.removed'),
    },
    {
      id: 'kind',
      header: t('channels.about'),
      width: 170,
      cell: (message) => word('channels.kind', message.kind),
    },
    {
      id: 'subject',
      header: t('channels.subject'),
      width: 200,
      grow: 3,
      cell: (message) => (
        <span className={classes.cut} title={message.subject}>
          {message.subject}
        </span>
      ),
    },
    {
      id: 'phase',
      header: t('channels.phase'),
      width: 100,
      cell: (message) => word('channels.phase', message.phase),
    },
    {
      id: 'count',
      header: t('channels.count'),
      width: 64,
      align: 'end',
      cell: (message) => formatNumber(message.count),
    },
    {
      id: 'attempts',
      header: t('channels.attempts'),
      width: 76,
      align: 'end',
      cell: (message) => formatNumber(message.attempts),
    },
    {
      id: 'created',
      header: t('channels.created'),
      width: 104,
      cell: (message) => <Time at={message.created_at} />,
    },
    {
      id: 'actions',
      header: t('channels.actions'),
      width: 104,
      cell: (message) =>
        !isUnderWay(message) &&
        message.channel_name && (
          <Button
            size="compact-xs"
            variant="default"
            onClick={(event) => {
              event.stopPropagation();
              again(message);
            }}
          >
            {t('channels.resend')}
          </Button>
        ),
    },
  ];
}

function Detail({ message }: { message: Notification }) {
  const facts: [string, React.ReactNode][] = [
    [t('channels.message'), <CopyId key="m" id={message.id} />],
    [t('channels.updated'), <Time key="u" at={message.updated_at} as="full" />],
  ];
  if (message.workflow_id)
    facts.push([
      t('channels.workflow'),
      <Link key="w" to="/workflows/$id" params={{ id: message.workflow_id }}>
        {message.workflow_id}
      </Link>,
    ]);
  if (message.next_attempt_at)
    facts.push([t('channels.next'), <Time key="n" at={message.next_attempt_at} as="full" />]);
  if (message.requested_by) facts.push([t('channels.requestedBy'), message.requested_by]);
  if (message.repeats) facts.push([t('channels.repeats'), <CopyId key="r" id={message.repeats} />]);
  if (message.increase > 0) facts.push([t('channels.increase'), formatNumber(message.increase)]);
  return (
    <div className={classes.dialog}>
      {message.error && (
        <p className={classes.wrong}>
          {message.error_code && <code>{message.error_code}</code>} {message.error}
        </p>
      )}
      <Facts facts={facts} />
    </div>
  );
}
