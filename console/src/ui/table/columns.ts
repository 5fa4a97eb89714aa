/** Columns of a table: which are shown and how wide, kept per table. */

import type { ReactNode } from 'react';
import { useMemo } from 'react';
import { useKept } from '@/settings/kept';

export interface Column<Row> {
  id: string;
  header: string;
  /** Pixels; with `grow` the least. */
  width: number;
  /** Share of the space that is left. */
  grow?: number;
  cell: (row: Row) => ReactNode;
  align?: 'end';
  /** Cannot be hidden. */
  required?: boolean;
  /** Hidden until chosen. */
  optional?: boolean;
}

interface Kept {
  hidden?: string[];
  shown?: string[];
  widths?: Record<string, number>;
}

export const LEAST_WIDTH = 48;

export function useColumns<Row>(table: string, columns: Column<Row>[]) {
  const [kept, keep] = useKept<Kept>(`columns.${table}`, {});
  const visible = useMemo(
    () =>
      columns.filter((column) => {
        if (column.required) return true;
        if (kept.hidden?.includes(column.id)) return false;
        return !column.optional || kept.shown?.includes(column.id);
      }),
    [columns, kept],
  );
  const template = visible
    .map((column) => {
      const chosen = kept.widths?.[column.id];
      if (chosen) return `${chosen}px`;
      return column.grow ? `minmax(${column.width}px, ${column.grow}fr)` : `${column.width}px`;
    })
    .join(' ');
  const least = visible.reduce(
    (sum, column) => sum + (kept.widths?.[column.id] ?? column.width),
    0,
  );
  const without = (list: string[] | undefined, id: string) => (list ?? []).filter((x) => x !== id);
  return {
    visible,
    template,
    /** Pixels the columns need at least. */
    least,
    isShown: (id: string) => visible.some((column) => column.id === id),
    toggle: (id: string) =>
      visible.some((column) => column.id === id)
        ? keep({
            ...kept,
            hidden: [...without(kept.hidden, id), id],
            shown: without(kept.shown, id),
          })
        : keep({
            ...kept,
            shown: [...without(kept.shown, id), id],
            hidden: without(kept.hidden, id),
          }),
    resize: (id: string, width: number) =>
      keep({ ...kept, widths: { ...kept.widths, [id]: Math.max(LEAST_WIDTH, Math.round(width)) } }),
    reset: () => keep({}),
  };
}
