/** An action on several letters, one after the other, with what became of each. */
import { asProblem } from '@/api/problem';
import { deleteLetter, type Letter, type RetryFrom, retryLetter } from '@/api/queries/dlq';

export type BulkAction = 'retry' | 'delete';
export type ItemState = 'waiting' | 'running' | 'done' | 'refused';

export interface BulkItem {
  letter: Letter;
  state: ItemState;
  /** The execution of a retry. */
  execution?: string;
  /** Why it was refused. */
  reason?: string;
}

/** Letters that the action is for: only pending ones can be retried or deleted. */
export function bulkItems(letters: Letter[]): BulkItem[] {
  return letters
    .filter((letter) => letter.status === 'pending')
    .map((letter) => ({ letter, state: 'waiting' }));
}

export interface BulkGroup {
  workflow: string;
  error: string;
  count: number;
}

/** What the letters are, most first. */
export function groupsOf(letters: Letter[]): BulkGroup[] {
  const groups = new Map<string, BulkGroup>();
  for (const letter of letters) {
    const error = [letter.error_type, letter.error_code].filter(Boolean).join(' ');
    const name = `${letter.workflow_id} ${error}`;
    const group = groups.get(name) ?? { workflow: letter.workflow_id, error, count: 0 };
    group.count += 1;
    groups.set(name, group);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}

export function countStates(items: BulkItem[]): Record<ItemState, number> {
  const counts = { waiting: 0, running: 0, done: 0, refused: 0 };
  for (const item of items) counts[item.state] += 1;
  return counts;
}

interface BulkRun {
  items: BulkItem[];
  action: BulkAction;
  from: RetryFrom;
  /** Told of every change. */
  change: (items: BulkItem[]) => void;
  signal: AbortSignal;
  /** For tests. */
  send?: (letter: Letter) => Promise<{ execution_id: string } | undefined>;
}

/** Goes through those that wait; a refusal of one does not stop the others. */
export async function runBulk({ items, action, from, change, signal, send }: BulkRun) {
  const ask =
    send ??
    (async (letter: Letter) => {
      if (action === 'retry') return retryLetter(letter.id, from);
      await deleteLetter(letter.id);
      return undefined;
    });
  let now = items;
  const set = (index: number, next: Partial<BulkItem>) => {
    now = now.map((item, at) => (at === index ? { ...item, ...next } : item));
    change(now);
  };
  for (let index = 0; index < items.length; index++) {
    if (signal.aborted) return;
    if (items[index]!.state !== 'waiting') continue;
    set(index, { state: 'running', reason: undefined });
    try {
      const answer = await ask(items[index]!.letter);
      set(index, { state: 'done', execution: answer?.execution_id });
    } catch (error) {
      set(index, { state: 'refused', reason: asProblem(error).message });
    }
  }
}
