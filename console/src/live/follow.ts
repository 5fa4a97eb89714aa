/**
 * A long list that stays true without moving: pages by cursor, the first page asked again every few
 * seconds. Known rows change in place; new ones wait behind a pill while somebody is at work in the table.
 */
import {
  keepPreviousData,
  type QueryKey,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import type { Page } from '@/api/types';
import type { List } from '@/ui/table/list';
import { pauseSwitch } from './pause';

export const LIST_EVERY_MS = 4_000;
/** Rows kept in memory; older ones are found by a filter. */
const MOST_ROWS = 5_000;
/** Unfinished rows below the first page that are asked for again. */
const MOST_REFRESHED = 100;

export interface FollowOptions<Row> {
  /** Names the list and its filter. */
  queryKey: QueryKey;
  page: (cursor: string | null, signal: AbortSignal) => Promise<Page<Row>>;
  rowKey: (row: Row) => string;
  everyMs?: number;
  /** Reads rows again by key: those that may still change and are no longer on the first page. */
  refresh?: {
    changing: (row: Row) => boolean;
    read: (keys: string[], signal: AbortSignal) => Promise<Row[]>;
  };
}

export function useFollow<Row>({
  queryKey,
  page,
  rowKey,
  everyMs: interval = LIST_EVERY_MS,
  refresh,
}: FollowOptions<Row>): List<Row> {
  const client = useQueryClient();
  const everyMs = pauseSwitch.use() ? false : interval;
  const pagesKey = useMemo(() => [...queryKey, 'pages'], [queryKey]);
  const pages = useInfiniteQuery({
    queryKey: pagesKey,
    initialPageParam: null as string | null,
    queryFn: ({ pageParam, signal }) => page(pageParam, signal),
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnMount: 'always',
  });
  const ready = pages.isSuccess && !pages.isPlaceholderData;
  const head = useQuery({
    queryKey: [...queryKey, 'head'],
    queryFn: ({ signal }) => page(null, signal),
    enabled: ready,
    refetchInterval: everyMs,
    staleTime: interval,
  });

  const shown = useMemo(() => pages.data?.pages.flatMap((each) => each.items) ?? [], [pages.data]);
  const shownKeys = useMemo(() => new Set(shown.map(rowKey)), [shown, rowKey]);
  const news = useMemo(
    () => (ready ? (head.data?.items.filter((row) => !shownKeys.has(rowKey(row))) ?? []) : []),
    [ready, head.data, shownKeys, rowKey],
  );

  const headRows = head.data?.items;
  const older = useMemo(() => {
    if (!refresh || !headRows) return [];
    const seen = new Set(headRows.map(rowKey));
    return shown
      .filter((row) => refresh.changing(row) && !seen.has(rowKey(row)))
      .slice(0, MOST_REFRESHED)
      .map(rowKey);
  }, [refresh, headRows, shown, rowKey]);
  const again = useQuery({
    queryKey: [...queryKey, 'again', older],
    queryFn: ({ signal }) => refresh!.read(older, signal),
    enabled: older.length > 0,
    refetchInterval: everyMs,
    placeholderData: keepPreviousData,
  });

  const rows = useMemo(() => {
    const now = new Map<string, Row>();
    for (const row of again.data ?? []) now.set(rowKey(row), row);
    for (const row of headRows ?? []) now.set(rowKey(row), row);
    return shown.map((row) => now.get(rowKey(row)) ?? row);
  }, [shown, again.data, headRows, rowKey]);

  const held = useRef<() => boolean>(() => false);
  const showFresh = useCallback(() => {
    const first = client.getQueryData<Page<Row>>([...queryKey, 'head']);
    if (first) client.setQueryData(pagesKey, { pages: [first], pageParams: [null] });
  }, [client, queryKey, pagesKey]);
  // Nothing can move under the pointer where nothing is; but what was read before it became empty is no news.
  const empty = shown.length === 0 && head.dataUpdatedAt >= pages.dataUpdatedAt;
  useEffect(() => {
    if (news.length > 0 && (empty || !held.current())) showFresh();
  }, [news, showFresh, empty]);

  const { fetchNextPage, refetch: refetchPages } = pages;
  const full = shown.length >= MOST_ROWS;
  return {
    rows,
    loading: pages.isPending,
    stale: pages.isPlaceholderData || (pages.isError && shown.length > 0),
    error: pages.error ?? undefined,
    more: pages.hasNextPage && !full,
    loadingMore: pages.isFetchingNextPage,
    loadMore: useCallback(() => {
      fetchNextPage();
    }, [fetchNextPage]),
    searchedTo: pages.data?.pages.at(-1)?.searched_to,
    refetch: useCallback(() => {
      refetchPages();
    }, [refetchPages]),
    fresh: news.length,
    freshIsMore: news.length > 0 && news.length === headRows?.length,
    showFresh,
    holdWhile: useCallback((check: () => boolean) => {
      held.current = check;
    }, []),
  };
}
