/** Every request that arrived at a webhook, with its headers, body and reason. */
import { useNavigate } from '@tanstack/react-router';
import { readRequests, requestListKey, type WebhookRequest } from '@/api/queries/webhooks';
import { t, word } from '@/i18n/t';
import { formatBytes } from '@/time/format';
import { CopyId } from '@/ui/copy/CopyId';
import type { FilterField } from '@/ui/filter/filter';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { Time } from '@/ui/time/Time';
import { HistoryPage } from '../HistoryPage';
import { requestsRoute } from '../route';
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
  return (
    <HistoryPage<WebhookRequest>
      table="requests"
      trigger={id}
      title={t('webhook.requests')}
      search={search}
      fields={fields}
      columns={columns}
      rowKey={rowKey}
      listKey={requestListKey}
      read={readRequests}
      go={(next, replace) =>
        navigate({ to: '/triggers/$id/requests', params: { id }, search: next, replace })
      }
      detail={(row) => <RequestDetail trigger={id} request={row.id} />}
      expanded={search.open}
      placeholder="status:auth_failed"
      summary={() => <Counts id={id} plain />}
      empty={{ title: t('webhook.noRequests'), command: `refire trigger test ${id} --body '{}'` }}
    />
  );
}
