/** Every request that arrived at a webhook, with its headers, body and reason. */
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo } from 'react';
import { triggerQuery } from '@/api/queries/triggers';
import { readRequests, requestListKey, type WebhookRequest } from '@/api/queries/webhooks';
import { t, word } from '@/i18n/t';
import { serverNow } from '@/live/clock';
import { useFollow } from '@/live/follow';
import { formatBytes } from '@/time/format';
import { absoluteTime } from '@/time/range';
import { CopyId } from '@/ui/copy/CopyId';
import { FilterBar } from '@/ui/filter/FilterBar';
import {
  checkFilter,
  clearFilter,
  type FilterField,
  filterWords,
  isFiltered,
} from '@/ui/filter/filter';
import { Page } from '@/ui/page/Page';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { DataTable } from '@/ui/table/DataTable';
import { Time } from '@/ui/time/Time';
import { requestsRoute } from '../route';
import { titleOf } from '../words';
import { RequestDetail } from './RequestDetail';
import { Counts, Outcome, STATUSES, TestMark } from './Requests';

const rowKey = (row: WebhookRequest) => row.id;

const fields = (): FilterField[] => [
  {
    key: 'status',
    kind: 'choice',
    several: true,
    label: t('trigger.status'),
    options: STATUSES.map((value) => ({ value, label: word('status', value) })),
  },
  {
    key: 'test',
    kind: 'choice',
    label: t('webhook.test'),
    options: [
      { value: 'true', label: t('webhook.onlyTests') },
      { value: 'false', label: t('webhook.noTests') },
    ],
  },
];

const columns = (): Column<WebhookRequest>[] => [
  {
    id: 'status',
    header: t('trigger.status'),
    width: 120,
    required: true,
    cell: (row) => <Status value={row.status} />,
  },
  {
    id: 'received',
    header: t('webhook.received'),
    width: 160,
    cell: (row) => <Time at={row.received_at} as="full" />,
  },
  {
    id: 'ip',
    header: t('webhook.ip'),
    width: 150,
    cell: (row) => <code title={row.source_ip}>{row.source_ip}</code>,
  },
  {
    id: 'outcome',
    header: t('webhook.outcome'),
    width: 260,
    grow: 3,
    cell: (row) => <Outcome request={row} />,
  },
  {
    id: 'bytes',
    header: t('webhook.bytes'),
    width: 80,
    align: 'end',
    cell: (row) => formatBytes(row.body_bytes),
  },
  { id: 'test', header: t('webhook.test'), width: 64, cell: (row) => row.test && <TestMark /> },
  {
    id: 'id',
    header: t('webhook.request'),
    width: 160,
    optional: true,
    cell: (row) => <CopyId id={row.id} plain />,
  },
];

export function RequestsPage() {
  const { id } = requestsRoute.useParams();
  const search = requestsRoute.useSearch();
  const navigate = useNavigate();
  const { data: trigger } = useQuery(triggerQuery(id));
  const known = useMemo(fields, []);
  const shown = useMemo(columns, []);
  const { open } = search;
  const { value, wrong } = useMemo(() => checkFilter(search, known), [search, known]);
  const queryKey = useMemo(() => requestListKey(id, value), [id, value]);
  const list = useFollow<WebhookRequest>({
    queryKey,
    rowKey,
    page: (cursor, signal) =>
      readRequests(
        id,
        {
          status: value.status,
          test: value.test,
          from: absoluteTime(value.from, serverNow()),
          to: absoluteTime(value.to, serverNow()),
        },
        cursor,
        signal,
      ),
  });
  const go = (next: Record<string, string | undefined>, replace = false) =>
    navigate({ to: '/triggers/$id/requests', params: { id: id }, search: next, replace });
  return (
    <Page
      fill
      title={t('webhook.requests')}
      subtitle={
        <Link to="/triggers/$id" params={{ id: id }}>
          {trigger ? `${trigger.workflow_id} · ${titleOf(trigger)}` : id}
        </Link>
      }
    >
      <FilterBar
        fields={known}
        value={value}
        wrong={wrong}
        onChange={go}
        placeholder="status:auth_failed"
      />
      <DataTable
        id="requests"
        label={t('webhook.requests')}
        columns={shown}
        list={list}
        rowKey={rowKey}
        summary={<Counts id={id} plain />}
        detail={(row) => <RequestDetail trigger={id} request={row.id} />}
        expanded={open}
        onExpand={(key) => go({ ...value, open: key }, true)}
        empty={{ title: t('webhook.noRequests'), command: `refire trigger test ${id} --body '{}'` }}
        filtered={
          isFiltered(value, known)
            ? { words: filterWords(value, known), clear: () => go(clearFilter(value, known)) }
            : undefined
        }
      />
    </Page>
  );
}
