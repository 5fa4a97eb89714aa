/** What the first page shows: counts, trouble, the next fires. Parts that a server lacks are null. */
import { queryOptions } from '@tanstack/react-query';
import { answer, api, call } from '../client';
import { ApiProblem } from '../problem';

const EVERY_MS = 5_000;
/** What a server does not know is not asked for again. */
const unlessUnknown = (query: { state: { data?: unknown } }) =>
  query.state.data === null ? (false as const) : EVERY_MS;

export interface Overview {
  range: string;
  executions: { total: number; exact: boolean; by_status: Record<string, number> };
  success_rate: number | null;
  retry_recovery: number | null;
  dead_letters: {
    pending: number;
    oldest: string | null;
    newest: string | null;
    new_in_range: number;
  };
  open: { running: number; retrying: number; waiting: number; paused: number; pending: number };
  triggers: { enabled: number; overdue: number };
  workers: { active: number; idle: number; dead: number };
  nodes: { alive: number };
  tasks: { pending: number; locked: number };
}

export interface Trouble {
  kind: string;
  severity: 'critical' | 'warning' | 'info';
  subject: string;
  workflow_id?: string | null;
  count?: number | null;
  since?: string | null;
  text: string;
  text_zh: string;
  path: string;
}

export interface Upcoming {
  at: string;
  trigger_id: string;
  workflow_id: string;
  trigger_type: string;
  description?: string | null;
}

/** Null where the server does not know the address: an older one than this console. */
async function known<T>(sent: Promise<T>): Promise<T | null> {
  try {
    return await sent;
  } catch (error) {
    if (error instanceof ApiProblem && [400, 404, 405].includes(error.status)) return null;
    throw error;
  }
}

export const overviewQuery = (range: string) =>
  queryOptions({
    queryKey: ['overview', range],
    queryFn: ({ signal }) =>
      known(call<Overview>('GET', '/api/overview', { query: { range }, signal })),
    refetchInterval: unlessUnknown,
  });

export const troubleQuery = queryOptions({
  queryKey: ['trouble'],
  queryFn: ({ signal }) =>
    known(
      call<{ items: Trouble[]; quiet_since?: string | null }>('GET', '/api/trouble', { signal }),
    ),
  refetchInterval: unlessUnknown,
});

export const upcomingQuery = (limit: number) =>
  queryOptions({
    queryKey: ['triggers', 'upcoming', limit],
    queryFn: ({ signal }) =>
      known(
        call<{ items: Upcoming[] }>('GET', '/api/triggers/upcoming', { query: { limit }, signal }),
      ),
    refetchInterval: unlessUnknown,
  });

/** Whether anything was ever done here: without a workflow the page shows how to begin. */
export const anyWorkflow = queryOptions({
  queryKey: ['workflows', 'any'],
  queryFn: async ({ signal }) => {
    const page = await answer(
      api.GET('/api/workflows', { params: { query: { limit: 1 } }, signal }),
    );
    return page.items.length > 0;
  },
  refetchInterval: EVERY_MS,
});
