/** Entries of the ledger, and requests, as cells of a strip and in words. */
import type { LedgerEntry } from '@/api/queries/triggers';
import type { WebhookRequest } from '@/api/queries/webhooks';
import { t, word } from '@/i18n/t';
import { formatDuration, formatInstant } from '@/time/format';
import { type Tone, toneOf } from '@/ui/status/status';
import type { StripCell } from '@/ui/strip/Strip';

/** What a cell of the ledger is counted as. */
export type SlotLook =
  | 'fired'
  | 'late'
  | 'backfill'
  | 'missed'
  | 'overlap'
  | 'paused'
  | 'dst'
  | 'dropped'
  | 'overdue'
  | 'recovered';

const TONE: Record<SlotLook, Tone> = {
  fired: 'completed',
  late: 'late',
  backfill: 'compensated',
  missed: 'failed',
  overlap: 'cancelled',
  paused: 'cancelled',
  dst: 'cancelled',
  dropped: 'cancelled',
  overdue: 'late',
  recovered: 'completed',
};

/** The letter in a cell; a fired one has none. */
const MARK: Record<SlotLook, string> = {
  fired: '',
  late: 'L',
  backfill: 'B',
  missed: '×',
  overlap: 'O',
  paused: 'P',
  dst: 'D',
  dropped: 'W',
  overdue: '!',
  recovered: '✓',
};

/** The order in which looks are counted. */
export const LOOKS = Object.keys(TONE) as SlotLook[];

export function lookOf({ status, reason }: Pick<LedgerEntry, 'status' | 'reason'>): SlotLook {
  if (status === 'late') return reason === 'backfill' ? 'backfill' : 'late';
  if (status !== 'skipped') return status;
  return reason && reason in TONE ? (reason as SlotLook) : 'missed';
}

export const toneOfLook = (look: SlotLook): Tone => TONE[look];
export const lookWords = (look: SlotLook): string => word('triggers.slot', look);

/** Looks that a backfill may make up for. */
export const isMissed = (look: SlotLook): boolean =>
  /^(missed|overlap|paused|dst|dropped)$/.test(look);

/** `2026-11-19T15:00:00+08:00` for people: `2026-11-19 15:00:00 +08:00`. */
export function localText(local: string): string {
  const found = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/.exec(local);
  if (!found) return local;
  return `${found[1]} ${found[2]} ${/^(Z|\+00:00)$/.test(found[3]!) ? 'UTC' : found[3]}`;
}

/** A stretch of planned times: `2026-11-19 15:00:00 – 16:00:00 +08:00 (2)`; the date once where it is the same. */
export function stretchText({
  local,
  local_to,
  count,
}: Pick<LedgerEntry, 'local' | 'local_to' | 'count'>) {
  const first = localText(local);
  if (count <= 1) return first;
  const last = localText(local_to);
  const [date, time, offset] = first.split(' ');
  const [lastDate, lastTime, lastOffset] = last.split(' ');
  if (date === lastDate && offset === lastOffset)
    return `${date} ${time} – ${lastTime} ${offset} (${count})`;
  return `${first} – ${last} (${count})`;
}

/** Planned times in their order, not in the order in which something was done about them. */
export function byPlannedTime(entries: readonly LedgerEntry[]): LedgerEntry[] {
  const at = (entry: LedgerEntry) => Date.parse(entry.nominal);
  return [...entries].sort((a, b) => at(a) - at(b) || Date.parse(a.at) - Date.parse(b.at));
}

/** How long after its planned time something was done. */
export function afterText(entry: LedgerEntry): string {
  return formatDuration(Math.max(0, Date.parse(entry.at) - Date.parse(entry.to)));
}

/** A cell's whole story in one line. */
export function entryWords(entry: LedgerEntry): string {
  const look = lookOf(entry);
  return `${stretchText(entry)} · ${lookWords(look)}`;
}

export function ledgerCell(entry: LedgerEntry): StripCell {
  const look = lookOf(entry);
  const many = entry.count > 1;
  return {
    key: `${entry.nominal}/${entry.status}/${entry.at}`,
    tone: TONE[look],
    mark: many ? `${MARK[look]}${entry.count > 999 ? '999+' : entry.count}` : MARK[look],
    label: entryWords(entry),
    wide: many,
  };
}

export function plannedCell(local: string): StripCell {
  return {
    key: `planned/${local}`,
    tone: 'planned',
    label: t('triggers.plannedAt', { time: localText(local) }),
  };
}

export function requestCell(request: WebhookRequest): StripCell {
  return {
    key: request.id,
    tone: toneOf(request.status),
    label: `${formatInstant(Date.parse(request.received_at))} · ${word('status', request.status)}`,
  };
}

/** How many of each look, stretches by their length. */
export function countLooks(entries: readonly LedgerEntry[]): [SlotLook, number][] {
  const counts = new Map<SlotLook, number>();
  for (const entry of entries) {
    const look = lookOf(entry);
    counts.set(look, (counts.get(look) ?? 0) + entry.count);
  }
  return LOOKS.flatMap((look) => {
    const count = counts.get(look);
    return count ? [[look, count] as [SlotLook, number]] : [];
  });
}

/** How many planned times were skipped and not run later. */
export function stillMissed(entries: readonly LedgerEntry[]): number {
  const later = entries.filter((entry) => lookOf(entry) === 'backfill');
  return entries.reduce((sum, entry) => {
    if (!isMissed(lookOf(entry))) return sum;
    const from = Date.parse(entry.nominal);
    const to = Date.parse(entry.to);
    const made = new Set(
      later.map((each) => Date.parse(each.nominal)).filter((at) => at >= from && at <= to),
    );
    return sum + Math.max(0, entry.count - made.size);
  }, 0);
}
