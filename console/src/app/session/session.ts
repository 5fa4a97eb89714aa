/** The session in use: asked for once, renewed over the page when it ends. */
import { useQuery } from '@tanstack/react-query';
import { useSyncExternalStore } from 'react';
import { onSessionEnd } from '@/api/client';
import { type Session, sessionKey, sessionQuery } from '@/api/queries/session';
import { queryClient } from '../query';

let waiting: { promise: Promise<void>; done: () => void } | undefined;
const listeners = new Set<() => void>();
const tell = () => {
  for (const listener of listeners) listener();
};

/** Requests that were refused for want of a session wait here until there is one again. */
onSessionEnd(() => {
  if (!waiting) {
    let done = () => {};
    const promise = new Promise<void>((resolve) => {
      done = resolve;
    });
    waiting = { promise, done };
    tell();
  }
  return waiting.promise;
});

/** Whether the login shows over the page. */
export function useSessionEnded(): boolean {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => waiting !== undefined,
  );
}

/** Somebody logged in: the waiting requests go on. */
export function sessionBegins(session: Session) {
  queryClient.setQueryData(sessionKey, session);
  const ended = waiting;
  waiting = undefined;
  tell();
  ended?.done();
  announce('in');
}

const channel =
  typeof BroadcastChannel === 'undefined' ? undefined : new BroadcastChannel('refire.session');

function announce(what: 'in' | 'out') {
  channel?.postMessage(what);
}

/** Ends the page's session: everything read is forgotten, in all tabs. */
export function sessionEnds(fromOtherTab = false) {
  queryClient.clear();
  if (!fromOtherTab) announce('out');
  location.assign(new URL('login', document.baseURI));
}

if (channel)
  channel.onmessage = async (message: MessageEvent<'in' | 'out'>) => {
    if (message.data === 'out') sessionEnds(true);
    else if (waiting)
      sessionBegins(await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 }));
  };

/** Who is logged in; present on every page but the login. */
export function useSession(): Session | undefined {
  return useQuery(sessionQuery).data;
}
