/** The full ledger of a trigger. */
import { useNavigate } from '@tanstack/react-router';
import { type LedgerEntry, readSlots, slotListKey } from '@/api/queries/triggers';
import { t, word } from '@/i18n/t';
import { CopyId } from '@/ui/copy/CopyId';
import type { FilterField } from '@/ui/filter/filter';
import type { Column } from '@/ui/table/columns';
import { Time } from '@/ui/time/Time';
import { HistoryPage } from '../HistoryPage';
import { slotsRoute } from '../route';
import { afterText, stretchText } from '../slots';
import { Look, reasonWords } from './LedgerTable';

const rowKey = (entry: LedgerEntry) => `${entry.nominal}/${entry.status}/${entry.at}`;

const fields = (): FilterField[] => [
  {
    key: 'status',
    kind: 'choice',
    several: true,
    label: t('trigger.status'),
    options: (['fired', 'late', 'skipped', 'overdue', 'recovered'] as const).map((value) => ({
      value,
      label: word('status', value),
    })),
  },
];

const columns = (): Column<LedgerEntry>[] => [
  {
    id: 'planned',
    header: t('trigger.planned'),
    width: 240,
    grow: 2,
    required: true,
    cell: stretchText,
  },
  { id: 'status', header: t('trigger.status'), width: 110, cell: (row) => <Look entry={row} /> },
  { id: 'reason', header: t('trigger.reason'), width: 220, grow: 2, cell: reasonWords },
  {
    id: 'after',
    header: t('trigger.afterHead'),
    width: 90,
    align: 'end',
    cell: (row) => (row.execution_id ? afterText(row) : ''),
  },
  {
    id: 'execution',
    header: t('trigger.execution'),
    width: 170,
    cell: (row) =>
      row.execution_id && (
        <CopyId id={row.execution_id} to={`/executions/${row.execution_id}`} plain />
      ),
  },
  { id: 'at', header: t('trigger.seenAt'), width: 120, cell: (row) => <Time at={row.at} /> },
];

export function SlotsPage() {
  const { id } = slotsRoute.useParams();
  const navigate = useNavigate();
  return (
    <HistoryPage<LedgerEntry>
      table="slots"
      trigger={id}
      title={t('trigger.ledger')}
      search={slotsRoute.useSearch()}
      fields={fields}
      columns={columns}
      rowKey={rowKey}
      listKey={slotListKey}
      read={readSlots}
      go={(search) => navigate({ to: '/triggers/$id/slots', params: { id }, search })}
      open={(row) => {
        if (row.execution_id) navigate({ to: '/executions/$id', params: { id: row.execution_id } });
      }}
      placeholder="status:skipped"
      summary={(list) =>
        list.loading ? undefined : t('trigger.ledgerRows', { count: list.rows.length })
      }
      empty={{ title: t('trigger.ledgerEmpty'), command: `refire trigger slots ${id}` }}
    />
  );
}
