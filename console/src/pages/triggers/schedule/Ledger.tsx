/** Every planned time as a cell: what became of it and why. A range of cells can be run after all. */
import { Button, SegmentedControl, Switch } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import {
  isUnknownCall,
  type LedgerEntry,
  type PreviewedSlot,
  slotRange,
  slotStrip,
  type Trigger,
} from '@/api/queries/triggers';
import { formatNumber, t } from '@/i18n/t';
import { serverNow } from '@/live/clock';
import { absoluteTime } from '@/time/range';
import { CopyId } from '@/ui/copy/CopyId';
import { Panel } from '@/ui/page/Page';
import { ProblemView } from '@/ui/state/ProblemView';
import { Skeleton } from '@/ui/state/Skeleton';
import { Status } from '@/ui/status/Status';
import { Strip, type StripCell, type StripRange } from '@/ui/strip/Strip';
import formClasses from '../form/form.module.css';
import { triggerRoute } from '../route';
import {
  afterText,
  byPlannedTime,
  countLooks,
  entryWords,
  isMissed,
  ledgerCell,
  lookOf,
  lookWords,
  plannedCell,
  stillMissed,
  toneOfLook,
} from '../slots';
import { Backfill, type BackfillRange } from './Backfill';
import { LedgerTable } from './LedgerTable';
import classes from './schedule.module.css';

const RANGES = ['-24h', '-7d', '-30d', 'all'] as const;
const RANGE_DEFAULT = '-7d';
/** Cells of the strip; older entries are in the full ledger. */
const MOST_CELLS = 200;
const PLANNED_CELLS = 8;
/** A range moves on by the minute, so that it is asked anew only then. */
const MINUTE = 60_000;

function useEntries(trigger: Trigger, range: string) {
  const now = Math.floor(serverNow() / MINUTE) * MINUTE;
  const from = range === 'all' ? undefined : absoluteTime(range, now);
  const ranged = useQuery({
    ...slotRange(trigger.id, from ?? '', undefined, MOST_CELLS),
    retry: false,
  });
  const refused = ranged.error;
  // A server that knows no range shows its newest entries.
  const fallback =
    refused !== null && (isUnknownCall(refused) || (refused as { status?: number }).status === 400);
  const newest = useQuery({ ...slotStrip(trigger.id, MOST_CELLS), enabled: fallback });
  const used = fallback ? newest : ranged;
  return {
    items: fallback ? newest.data : ranged.data?.items,
    more: fallback ? false : !!ranged.data?.next_cursor,
    error: used.error,
    refetch: used.refetch,
  };
}

interface LedgerProps {
  trigger: Trigger;
  planned: readonly PreviewedSlot[];
}

export function Ledger({ trigger, planned }: LedgerProps) {
  const navigate = useNavigate();
  const search = triggerRoute.useSearch();
  const range = (RANGES as readonly string[]).includes(search.range ?? '')
    ? search.range!
    : RANGE_DEFAULT;
  const { items, more, error, refetch } = useEntries(trigger, range);
  const [picks, setPicks] = useState<[anchor: string, head: string]>();
  const [held, setHeld] = useState(false);
  const [asTable, setAsTable] = useState(false);
  const [filling, setFilling] = useState<BackfillRange>();
  // While somebody is at work in the strip, nothing moves under the pointer.
  const shown = useStill({ items, planned }, held);
  const entries = useMemo(() => byPlannedTime(shown.items ?? []), [shown.items]);
  const cells = useMemo(
    () => [
      ...entries.map(ledgerCell),
      ...shown.planned.slice(0, PLANNED_CELLS).map((slot) => plannedCell(slot.local)),
    ],
    [entries, shown.planned],
  );
  const chosen = useMemo(() => rangeOf(cells, picks), [cells, picks]);
  const setChosen = (next: StripRange | undefined) =>
    setPicks(next && [cells[next.anchor]!.key, cells[next.head]!.key]);
  const missed = entries.filter((entry) => isMissed(lookOf(entry)));
  const missedCount = useMemo(() => stillMissed(entries), [entries]);
  const picked = chosen ? pick(entries, chosen) : [];

  return (
    <Panel
      title={t('trigger.ledger')}
      actions={
        <>
          <Switch
            size="xs"
            label={t('trigger.asTable')}
            checked={asTable}
            onChange={(event) => setAsTable(event.currentTarget.checked)}
          />
          <SegmentedControl
            size="xs"
            aria-label={t('trigger.range')}
            data={RANGES.map((value) => ({
              value,
              label: value === 'all' ? t('trigger.rangeAll') : value.slice(1),
            }))}
            value={range}
            onChange={(next) =>
              navigate({
                to: '/triggers/$id',
                params: { id: trigger.id },
                search: next === RANGE_DEFAULT ? {} : { range: next },
                replace: true,
              })
            }
          />
        </>
      }
    >
      <div className={classes.ledger}>
        {error !== null && <ProblemView error={error} retry={refetch} />}
        {!items && !error && <Skeleton rows={2} />}
        {items && (
          <>
            <Counts entries={entries} id={trigger.id} />
            {asTable ? (
              <LedgerTable entries={items} />
            ) : cells.length > 0 ? (
              <Strip
                cells={cells}
                label={t('trigger.ledgerLabel')}
                range={chosen}
                onRange={setChosen}
                onHold={setHeld}
                nowAt={entries.length}
                nowLabel={t('trigger.now')}
                onOpen={(index) => {
                  const id = entries[index]?.execution_id;
                  if (id) navigate({ to: '/executions/$id', params: { id: id } });
                }}
              />
            ) : (
              <div className={classes.away}>{t('trigger.ledgerEmpty')}</div>
            )}
            {!asTable && cells.length > 0 && (
              <Chosen
                entries={picked}
                planned={
                  chosen !== undefined && picked.length === 0
                    ? cells[chosen.head]?.label
                    : undefined
                }
                backfill={(from, to) => setFilling({ from, to, onlyMissed: true })}
              />
            )}
          </>
        )}
        <div className={formClasses.row}>
          <Link to="/triggers/$id/slots" params={{ id: trigger.id }}>
            {t('trigger.fullLedger')}
          </Link>
          {more && (
            <span className={classes.away}>{t('trigger.ledgerCut', { count: MOST_CELLS })}</span>
          )}
          <Button
            variant="default"
            size="compact-sm"
            onClick={() =>
              setFilling({
                from: missed[0]?.nominal ?? absoluteTime('-24h', serverNow())!,
                to: missed.at(-1)?.to ?? new Date(serverNow()).toISOString(),
                onlyMissed: true,
              })
            }
          >
            {missedCount > 0
              ? t('trigger.backfillMissed', { count: missedCount })
              : t('trigger.backfill')}
          </Button>
        </div>
      </div>
      <Backfill trigger={trigger} range={filling} onClose={() => setFilling(undefined)} />
    </Panel>
  );
}

/** The last value from before it was held. */
function useStill<T>(value: T, held: boolean): T {
  const still = useRef(value);
  if (!held) still.current = value;
  return still.current;
}

/** Where the chosen cells are now. */
function rangeOf(cells: readonly StripCell[], picks: [string, string] | undefined) {
  if (!picks) return undefined;
  const [anchor, head] = picks.map((key) => cells.findIndex((cell) => cell.key === key));
  return anchor! < 0 || head! < 0 ? undefined : { anchor: anchor!, head: head! };
}

function pick(entries: readonly LedgerEntry[], { anchor, head }: StripRange): LedgerEntry[] {
  return entries.slice(Math.min(anchor, head), Math.max(anchor, head) + 1);
}

function Counts({ entries, id }: { entries: readonly LedgerEntry[]; id: string }) {
  const counts = countLooks(entries);
  if (counts.length === 0) return null;
  return (
    <div className={classes.counts}>
      {counts.map(([look, count]) => (
        <Link
          key={look}
          to="/triggers/$id/slots"
          params={{ id: id }}
          search={{
            status: /^(fired|late|overdue|recovered)$/.test(look)
              ? look
              : look === 'backfill'
                ? 'late'
                : 'skipped',
          }}
          className={classes.count}
        >
          <Status
            value={look}
            tone={toneOfLook(look)}
            label={`${lookWords(look)} ${formatNumber(count)}`}
          />
        </Link>
      ))}
    </div>
  );
}

interface ChosenProps {
  entries: readonly LedgerEntry[];
  planned: string | undefined;
  backfill: (from: string, to: string) => void;
}

/** The chosen cell or range in words. */
function Chosen({ entries, planned, backfill }: ChosenProps) {
  const first = entries[0];
  const last = entries.at(-1);
  if (!first || !last)
    return <div className={classes.chosen}>{planned ?? t('trigger.chooseCell')}</div>;
  const missed = entries.some((entry) => isMissed(lookOf(entry)));
  return (
    <div className={classes.chosen} aria-live="polite">
      <span className={classes.chosenText}>
        {entries.length === 1 ? (
          <>
            {entryWords(first)}
            {first.execution_id && ` · ${t('trigger.after', { time: afterText(first) })}`}
          </>
        ) : (
          t('trigger.chosenRange', {
            count: entries.reduce((sum, entry) => sum + entry.count, 0),
            words: countLooks(entries)
              .map(([look, count]) => `${lookWords(look)} ${count}`)
              .join(', '),
          })
        )}
      </span>
      {entries.length === 1 && first.execution_id && (
        <CopyId id={first.execution_id} to={`/executions/${first.execution_id}`} />
      )}
      {(missed || entries.length > 1) && (
        <Button
          variant="default"
          size="compact-xs"
          onClick={() => backfill(first.nominal, last.to)}
        >
          {t('trigger.backfillThese')}
        </Button>
      )}
    </div>
  );
}
