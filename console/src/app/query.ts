/** The cache of what the server said. */
import { QueryClient } from '@tanstack/react-query';
import { ApiProblem, UNREACHABLE } from '@/api/problem';

const RETRIES = 2;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: true,
      retry: (count, error) =>
        count < RETRIES &&
        (!(error instanceof ApiProblem) || error.code === UNREACHABLE || error.status >= 502),
      // The browser's own idea of "online" says nothing about a server on this machine.
      networkMode: 'always',
    },
    mutations: { networkMode: 'always' },
  },
});
