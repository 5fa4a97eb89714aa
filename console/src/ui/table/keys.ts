/** The keys of a grid: one tab stop, a cursor that walks, actions on the row under it. */
import type { KeyboardEvent } from 'react';
import { copyToClipboard } from '../copy/clipboard';
import type { Selection } from './selection';

interface GridKeys<Row> {
  keys: readonly string[];
  rows: readonly Row[];
  cursor: string | undefined;
  setCursor: (key: string | undefined) => void;
  selection?: Selection;
  expanded: string | undefined;
  expand?: (key: string | undefined) => void;
  open?: (row: Row) => void;
  rowKeys?: Record<string, (row: Row) => void>;
  /** Rows of a page. */
  page: number;
  reveal: (index: number) => void;
}

const STEPS: Record<string, (page: number) => number> = {
  ArrowDown: () => 1,
  j: () => 1,
  ArrowUp: () => -1,
  k: () => -1,
  PageDown: (page) => page,
  PageUp: (page) => -page,
  Home: () => Number.NEGATIVE_INFINITY,
  End: () => Number.POSITIVE_INFINITY,
};

export function useGridKeys<Row>(grid: GridKeys<Row>) {
  return (event: KeyboardEvent) => {
    // Keys typed inside an opened row belong to it.
    if (event.target !== event.currentTarget) return;
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    if (act(grid, event.key, event.shiftKey)) {
      event.preventDefault();
      event.stopPropagation();
    }
  };
}

function act<Row>(grid: GridKeys<Row>, key: string, shift: boolean): boolean {
  const at = grid.cursor === undefined ? -1 : grid.keys.indexOf(grid.cursor);
  const step = STEPS[key];
  if (step) {
    const to = Math.min(grid.keys.length - 1, Math.max(0, at + step(grid.page)));
    grid.setCursor(grid.keys[to]);
    if (grid.keys.length > 0) grid.reveal(to);
    return true;
  }
  if (key === 'Escape') {
    if (grid.expanded !== undefined) grid.expand?.(undefined);
    else if (grid.selection && grid.selection.keys.size > 0) grid.selection.clear();
    else return false;
    return true;
  }
  if (key === 'a' && grid.selection) {
    grid.selection.all();
    return true;
  }
  const row = grid.rows[at];
  return row !== undefined && actOnRow(grid, key, shift, grid.keys[at]!, row);
}

function actOnRow<Row>(
  grid: GridKeys<Row>,
  key: string,
  shift: boolean,
  id: string,
  row: Row,
): boolean {
  const toggleDetail = () => grid.expand?.(grid.expanded === id ? undefined : id);
  if (key === 'Enter' && grid.open) grid.open(row);
  else if ((key === ' ' || key === 'e' || key === 'Enter') && grid.expand) toggleDetail();
  else if (key.toLowerCase() === 'x' && grid.selection) grid.selection.toggle(id, shift);
  else if (key === 'c') copyToClipboard(id);
  else if (grid.rowKeys?.[key]) grid.rowKeys[key](row);
  else return false;
  return true;
}
