/** Bulk jobs, and one of them. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';

export const jobsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/bulk',
  staticData: { title: 'shell.bulk' },
  validateSearch: (search: Record<string, unknown>) => pick(search, ['state']),
  component: lazyRouteComponent(() => import('./Jobs'), 'Jobs'),
});

export const jobRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/bulk/$id',
  staticData: { parent: { title: 'shell.bulk', to: '/bulk' }, param: 'id' },
  validateSearch: (search: Record<string, unknown>) => pick(search, ['outcome']),
  component: lazyRouteComponent(() => import('./JobPage'), 'JobPage'),
});
