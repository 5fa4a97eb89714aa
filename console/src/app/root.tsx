/** The two roots: everything, and everything that needs a session (in the shell). */
import type { QueryClient } from '@tanstack/react-query';
import { createRootRouteWithContext, createRoute, redirect } from '@tanstack/react-router';
import { ApiProblem } from '@/api/problem';
import { sessionQuery } from '@/api/queries/session';
import { Failure } from './errors/Failure';
import { NotFound } from './errors/NotFound';
import { Shell } from './shell/Shell';

export const rootRoute = createRootRouteWithContext<{ query: QueryClient }>()({
  errorComponent: Failure,
  notFoundComponent: NotFound,
});

export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  errorComponent: Failure,
  notFoundComponent: NotFound,
  beforeLoad: async ({ context, location }) => {
    try {
      await context.query.ensureQueryData(sessionQuery);
    } catch (error) {
      if (error instanceof ApiProblem && error.status === 401)
        throw redirect({ to: '/login', search: { next: location.href } });
      throw error;
    }
  },
});
