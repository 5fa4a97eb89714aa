/** The targets: how they do, which are left alone and until when, and what a person may say of them. */
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import {
  actOnTarget,
  actRequest,
  readTargets,
  type Target,
  type TargetAct,
  type TargetFilter,
  targetsKey,
} from '@/api/queries/targets';
import { type BulkAsk, BulkDialog } from '@/bulk/BulkDialog';
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
import { Page } from '@/ui/page/Page';
import { DataTable } from '@/ui/table/DataTable';
import { toastDone } from '@/ui/toast/toast';
import { targetColumns } from './columns';
import { Detail } from './Detail';
import { targetsRoute } from './route';
import classes from './targets.module.css';

const rowKey = (target: Target) => target.host;
const EVERY_MS = 3_000;
const STATES = ['open', 'half_open', 'closing', 'closed'] as const;

const targetFields = (): FilterField[] => [
  {
    key: 'state',
    kind: 'choice',
    several: true,
    label: t('targets.state'),
    options: STATES.map((value) => ({ value, label: word('targets.state', value) })),
  },
];

/** What is being asked about: an action on a target, or a retry of its letters. */
type Asking = { target: Target; act: TargetAct } | { retry: BulkAsk };

export function Targets() {
  const search = targetsRoute.useSearch();
  const navigate = useNavigate();
  const [asking, setAsking] = useState<Asking>();
  const [enabled, setEnabled] = useState(true);
  const fields = useMemo(targetFields, []);
  const text = JSON.stringify(search);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text says everything of the search
  const { value, wrong } = useMemo(() => checkFilter(search, fields), [text, fields]);
  const filter = value as TargetFilter;
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const queryKey = useMemo(() => [...targetsKey, 'list', filter], [JSON.stringify(filter)]);
  const list = useFollow<Target>({
    queryKey,
    page: async (cursor, signal) => {
      const page = await readTargets(filter, cursor, signal);
      setEnabled(page.enabled);
      return page;
    },
    rowKey,
    everyMs: EVERY_MS,
  });
  const columns = useMemo(() => targetColumns((target, act) => setAsking({ target, act })), []);
  const go = (next: FilterValue, replace = false) =>
    navigate({ to: '/targets', search: next as Record<string, string>, replace });
  return (
    <Page title={t('targets.title')} fill>
      {!enabled && <p className={classes.notice}>{t('targets.off')}</p>}
      <FilterBar
        fields={fields}
        value={value}
        wrong={wrong}
        onChange={(next) => go(next)}
        noRange
        placeholder={t('targets.search')}
      />
      <DataTable
        id="targets"
        label={t('targets.title')}
        columns={columns}
        list={list}
        rowKey={rowKey}
        expanded={search.open}
        onExpand={(open) => go({ ...value, open }, true)}
        detail={(target) => <Detail target={target} retry={(retry) => setAsking({ retry })} />}
        empty={{
          title: t('targets.empty'),
          text: t('targets.emptyText'),
          command: 'refire targets list',
        }}
        filtered={
          isFiltered(value, fields)
            ? { words: filterWords(value, fields), clear: () => go({}) }
            : undefined
        }
      />
      {asking && 'act' in asking && (
        <Ask target={asking.target} act={asking.act} close={() => setAsking(undefined)} />
      )}
      {asking && 'retry' in asking && (
        <BulkDialog ask={asking.retry} close={() => setAsking(undefined)} />
      )}
    </Page>
  );
}

function Ask({ target, act, close }: { target: Target; act: TargetAct; close: () => void }) {
  const client = useQueryClient();
  const { host } = target;
  return (
    <Confirm
      opened
      onClose={close}
      title={`${word('targets.act', act)}: ${host}`}
      action={word('targets.act', act)}
      danger={act === 'open'}
      request={actRequest(host, act)}
      run={async () => {
        await actOnTarget(host, act);
        toastDone(word('targets.acted', act));
        client.invalidateQueries({ queryKey: targetsKey });
      }}
    >
      {word('targets.actText', act)}
    </Confirm>
  );
}
