/** What a table shows: rows, and how they came and change. Made by `useFollow`, or by `plainList` from an array. */

export interface List<Row> {
  rows: Row[];
  /** Nothing was read yet. */
  loading: boolean;
  /** What is shown belongs to the previous filter, or could not be read again. */
  stale: boolean;
  error: unknown;
  /** Whether more rows can be read. */
  more: boolean;
  loadingMore: boolean;
  loadMore: () => void;
  /** How far back a search looked before it gave up for this page. */
  searchedTo?: string | null;
  refetch: () => void;
  /** Rows that wait behind the pill. */
  fresh: number;
  freshIsMore: boolean;
  showFresh: () => void;
  /** The table says when rows must stand still; asked whenever new ones came. */
  holdWhile: (held: () => boolean) => void;
}

const nothing = () => {};

/** A list that is read whole. */
export function plainList<Row>(query: {
  data?: Row[];
  isPending: boolean;
  isError: boolean;
  error: unknown;
  refetch: () => unknown;
}): List<Row> {
  return {
    rows: query.data ?? [],
    loading: query.isPending,
    stale: query.isError && query.data !== undefined,
    error: query.isError ? query.error : undefined,
    more: false,
    loadingMore: false,
    loadMore: nothing,
    refetch: () => {
      query.refetch();
    },
    fresh: 0,
    freshIsMore: false,
    showFresh: nothing,
    holdWhile: nothing,
  };
}
