/** The first page. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';

export const overviewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/',
  staticData: { title: 'shell.overview' },
  validateSearch: (search: Record<string, unknown>) => pick(search, ['range']),
  component: lazyRouteComponent(() => import('./OverviewPage'), 'OverviewPage'),
});
