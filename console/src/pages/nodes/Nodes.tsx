/** The nodes that share the store: leases, load, versions. */
import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { type Node, nodesQuery } from '@/api/queries/nodes';
import { formatNumber, t } from '@/i18n/t';
import { useNow } from '@/live/clock';
import { formatCountdown } from '@/time/format';
import { CopyId } from '@/ui/copy/CopyId';
import { Page } from '@/ui/page/Page';
import { Status } from '@/ui/status/Status';
import type { Column } from '@/ui/table/columns';
import { DataTable } from '@/ui/table/DataTable';
import { plainList } from '@/ui/table/list';
import { Time } from '@/ui/time/Time';
import classes from './nodes.module.css';

const rowKey = (node: Node) => node.node_id;

export function Nodes() {
  const query = useQuery(nodesQuery);
  const columns = useMemo(nodeColumns, []);
  const nodes = query.data ?? [];
  const versions = [...new Set(nodes.map((node) => node.version))];
  return (
    <Page title={t('nodes.title')} fill>
      {versions.length > 1 && (
        <p className={classes.warning}>{t('nodes.versions', { versions: versions.join(', ') })}</p>
      )}
      <DataTable
        id="nodes"
        label={t('nodes.label')}
        columns={columns}
        list={plainList(query)}
        rowKey={rowKey}
        empty={{ title: t('nodes.empty'), text: t('nodes.emptyText'), command: 'refire nodes' }}
        summary={query.data && <Summary nodes={nodes} />}
      />
    </Page>
  );
}

function Summary({ nodes }: { nodes: Node[] }) {
  const now = useNow();
  const lost = nodes.filter((node) => isLost(node, now)).length;
  return (
    <>
      <strong>{t('nodes.summary', { count: nodes.length })}</strong>
      {lost > 0 ? (
        <>
          <span className={classes.alarm}>{t('nodes.lost', { count: lost })}</span>
          <span>{t('nodes.lostNote')}</span>
        </>
      ) : (
        nodes.length === 1 && <span>{t('nodes.oneNote')}</span>
      )}
    </>
  );
}

const isLost = (node: Node, now: number) => Date.parse(node.expires_at) <= now;

function NodeStatus({ node }: { node: Node }) {
  return <Status value={isLost(node, useNow()) ? 'lost' : 'alive'} />;
}

function LeaseEnd({ node }: { node: Node }) {
  const left = Date.parse(node.expires_at) - useNow();
  if (left <= 0) return <span className={classes.alarm}>{t('nodes.over')}</span>;
  return <span>{formatCountdown(left)}</span>;
}

const numberOr = (value: number | null | undefined) =>
  value === null || value === undefined ? '–' : formatNumber(value);

function nodeColumns(): Column<Node>[] {
  return [
    {
      id: 'name',
      header: t('nodes.col.name'),
      width: 160,
      grow: 1,
      required: true,
      cell: (row) => (
        <span className={classes.name}>
          <span className={classes.cut}>{row.name}</span>
          {row.is_this && <span className={classes.this}>{t('nodes.this')}</span>}
        </span>
      ),
    },
    {
      id: 'status',
      header: t('nodes.col.status'),
      width: 92,
      cell: (row) => <NodeStatus node={row} />,
    },
    {
      id: 'id',
      header: t('nodes.col.id'),
      width: 170,
      cell: (row) => <CopyId id={row.node_id} plain />,
    },
    {
      id: 'address',
      header: t('nodes.col.address'),
      width: 150,
      grow: 1,
      cell: (row) => <code className={classes.cut}>{row.address}</code>,
    },
    { id: 'version', header: t('nodes.col.version'), width: 80, cell: (row) => row.version },
    {
      id: 'started',
      header: t('nodes.col.started'),
      width: 104,
      cell: (row) => <Time at={row.started_at} />,
    },
    {
      id: 'lease',
      header: t('nodes.col.lease'),
      width: 104,
      cell: (row) => <Time at={row.renewed_at} />,
    },
    {
      id: 'expires',
      header: t('nodes.col.expires'),
      width: 92,
      cell: (row) => <LeaseEnd node={row} />,
    },
    {
      id: 'running',
      header: t('nodes.col.running'),
      width: 76,
      align: 'end',
      cell: (row) => numberOr(row.running),
    },
    {
      id: 'holding',
      header: t('nodes.col.holding'),
      width: 76,
      align: 'end',
      cell: (row) => numberOr(row.holding),
    },
    {
      id: 'commit',
      header: t('nodes.col.commit'),
      width: 96,
      align: 'end',
      cell: (row) =>
        row.commit_ms_p99 === null || row.commit_ms_p99 === undefined
          ? '–'
          : t('nodes.ms', { ms: Math.round(row.commit_ms_p99 * 10) / 10 }),
    },
  ];
}
