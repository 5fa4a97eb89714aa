/** The list of dead letters: filters, totals, rows that open in place, and actions on several. */
import { Button, SegmentedControl } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import {
  type Letter,
  letterSummary,
  lettersKey,
  named,
  readAgain,
  readLetters,
} from '@/api/queries/dlq';
import { stretchOf } from '@/api/stretch';
import { type BulkAsk, BulkDialog } from '@/bulk/BulkDialog';
import { BulkButtons, BulkMenu, setOnly } from '@/bulk/BulkMenu';
import { rich, t } from '@/i18n/t';
import { useFollow } from '@/live/follow';
import { FilterBar } from '@/ui/filter/FilterBar';
import { type FilterValue, filterWords } from '@/ui/filter/filter';
import { IconRefresh } from '@/ui/icons';
import { Page } from '@/ui/page/Page';
import { DataTable } from '@/ui/table/DataTable';
import { Time } from '@/ui/time/Time';
import { letterColumns } from './columns';
import { DeleteDialog } from './DeleteDialog';
import { hasDraft } from './draft';
import { isNarrowed, letterFields, readFilter, writeFilter } from './filter';
import { Groups } from './Groups';
import { LetterBody } from './LetterBody';
import { RetryDialog } from './RetryDialog';
import { lettersRoute } from './route';

const rowKey = (letter: Letter) => letter.id;
const REFRESH = {
  changing: (letter: Letter) => letter.status === 'pending' || letter.status === 'retrying',
  read: readAgain,
};

/** What is being asked about: an action on one letter, or on several. */
type Asking =
  | { kind: 'retry' | 'delete'; letter: Letter }
  | { kind: 'bulk'; ask: BulkAsk; clear?: () => void };

const ACTIONS = ['retry', 'delete'] as const;

export function Letters() {
  const search = lettersRoute.useSearch();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [asking, setAsking] = useState<Asking>();
  const [selected, setSelected] = useState<string[]>([]);

  const groups = useQuery(letterSummary({ from: undefined }));
  const fields = useMemo(() => {
    const names = (of: 'workflow_id' | 'error_type') => async () =>
      [...new Set((groups.data?.groups ?? []).map((group) => group[of]))].sort();
    return letterFields({ workflows: names('workflow_id'), errors: names('error_type') });
  }, [groups.data]);
  const text = JSON.stringify(search);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text says everything of the search
  const { value, wrong, asked } = useMemo(() => readFilter(search, fields), [text, fields]);
  const askedText = JSON.stringify(asked);
  // biome-ignore lint/correctness/useExhaustiveDependencies: as above
  const queryKey = useMemo(() => [...lettersKey, 'list', asked], [askedText]);

  const list = useFollow<Letter>({
    queryKey,
    page: (cursor, signal) => readLetters(asked, cursor, signal),
    rowKey,
    refresh: REFRESH,
  });
  const summary = useQuery(letterSummary(asked));
  /** An input that somebody is editing is not passed over: its row opens instead. */
  const retry = useRef<(letter: Letter) => void>(() => {});
  retry.current = (letter) => {
    if (letter.status !== 'pending') return;
    if (hasDraft(letter.id)) go({ ...search, open: letter.id }, true);
    else setAsking({ kind: 'retry', letter });
  };
  const columns = useMemo(
    () =>
      letterColumns({
        retry: (letter) => retry.current(letter),
        remove: (letter) => setAsking({ kind: 'delete', letter }),
      }),
    [],
  );

  const rowKeys = useMemo(() => {
    const remove = (letter: Letter) => {
      if (letter.status === 'pending') setAsking({ kind: 'delete', letter });
    };
    return { r: (letter: Letter) => retry.current(letter), Delete: remove };
  }, []);

  const go = (next: FilterValue, replace = false) =>
    navigate({ to: '/dlq', search: next as Record<string, string>, replace });
  const setFilter = (next: FilterValue) =>
    go({ ...writeFilter(next), view: search.view, open: undefined });
  const clear = () => go({ view: search.view });
  const refresh = () => client.invalidateQueries({ queryKey: lettersKey });

  return (
    <Page
      title={t('dlq.title')}
      fill
      actions={
        <>
          <Button variant="default" leftSection={<IconRefresh size={14} />} onClick={refresh}>
            {t('dlq.refresh')}
          </Button>
          <BulkMenu
            kind="letters"
            actions={[...ACTIONS, 'purge']}
            selected={selected}
            filter={setOnly(named({ ...asked, ...stretchOf(asked) }))}
            words={filterWords(value, fields)}
            ask={(ask) => setAsking({ kind: 'bulk', ask })}
          />
        </>
      }
    >
      <FilterBar
        fields={fields}
        value={value}
        wrong={wrong}
        onChange={setFilter}
        clearable={isNarrowed(asked)}
        placeholder={t('dlq.filter.search')}
      >
        <SegmentedControl
          aria-label={t('dlq.title')}
          value={search.view === 'groups' ? 'groups' : 'list'}
          onChange={(view) => go({ ...search, view: view === 'groups' ? view : undefined })}
          data={[
            { value: 'list', label: t('dlq.view.list') },
            { value: 'groups', label: t('dlq.view.groups') },
          ]}
        />
      </FilterBar>
      {search.view === 'groups' ? (
        <Groups
          summary={summary}
          show={(group) => go({ ...search, ...group, view: undefined, open: undefined })}
        />
      ) : (
        <DataTable
          id="dlq"
          label={t('dlq.label')}
          columns={columns}
          list={list}
          rowKey={rowKey}
          expanded={search.open}
          onExpand={(open) => go({ ...search, open }, true)}
          detail={(letter) => (
            <LetterBody
              id={letter.id}
              listed={letter}
              close={() => go({ ...search, open: undefined }, true)}
              remove={() => setAsking({ kind: 'delete', letter })}
            />
          )}
          bulk={(letters, unselect) => (
            <Selected
              ids={letters.map((letter) => letter.id)}
              tell={setSelected}
              ask={(ask) => setAsking({ kind: 'bulk', ask, clear: unselect })}
            />
          )}
          rowKeys={rowKeys}
          summary={summary.data && <Totals {...summary.data} />}
          empty={{ title: t('dlq.empty'), text: t('dlq.emptyText'), command: 'refire dlq list' }}
          filtered={
            isNarrowed(asked) || (groups.data?.count ?? 0) > 0
              ? { words: filterWords(value, fields), clear }
              : undefined
          }
        />
      )}
      {asking?.kind === 'retry' && (
        <RetryDialog letter={asking.letter} close={() => setAsking(undefined)} />
      )}
      {asking?.kind === 'delete' && (
        <DeleteDialog letter={asking.letter} close={() => setAsking(undefined)} />
      )}
      {asking?.kind === 'bulk' && (
        <BulkDialog
          ask={asking.ask}
          close={(started) => {
            if (started) asking.clear?.();
            setAsking(undefined);
          }}
        />
      )}
    </Page>
  );
}

/** The buttons beside the selection; tells the page what is selected. */
function Selected({
  ids,
  tell,
  ask,
}: {
  ids: string[];
  tell: (ids: string[]) => void;
  ask: (ask: BulkAsk) => void;
}) {
  const text = ids.join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text says which letters are meant
  useEffect(() => tell(ids), [text]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when nothing is selected any more
  useEffect(() => () => tell([]), []);
  return <BulkButtons kind="letters" actions={ACTIONS} ids={ids} ask={ask} />;
}

function Totals({
  count,
  oldest,
  newest,
}: {
  count: number;
  oldest?: string | null;
  newest?: string | null;
}) {
  return (
    <>
      <strong>{t('dlq.total', { count })}</strong>
      {oldest && <span>{rich('dlq.oldest', { time: <Time at={oldest} /> })}</span>}
      {newest && <span>{rich('dlq.newest', { time: <Time at={newest} /> })}</span>}
    </>
  );
}
