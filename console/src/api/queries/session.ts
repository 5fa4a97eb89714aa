/** Who is logged in. */
import { queryOptions } from '@tanstack/react-query';
import { learnServerTime } from '@/live/clock';
import { call } from '../client';

export interface Session {
  actor: string;
  scopes: string[];
  expires_at: string | null;
  version: string;
  node_id: string;
  dev: boolean;
  public_url: string | null;
  server_time: string;
}

export const sessionKey = ['session'];

export const sessionQuery = queryOptions({
  queryKey: sessionKey,
  queryFn: async ({ signal }) => {
    const session = await call<Session>('GET', '/api/session', { signal });
    learnServerTime(session.server_time, true);
    return session;
  },
  staleTime: Number.POSITIVE_INFINITY,
  retry: false,
});

export async function logIn(proof: { key: string } | { token: string }): Promise<Session> {
  const session = await call<Session>('POST', '/api/session', { body: proof });
  learnServerTime(session.server_time, true);
  return session;
}

export function logOut(): Promise<void> {
  return call('DELETE', '/api/session');
}
