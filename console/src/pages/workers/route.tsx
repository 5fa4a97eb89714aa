/** Workers. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';

export const workersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/workers',
  staticData: { title: 'shell.workers' },
  validateSearch: (search: Record<string, unknown>) => pick(search, ['status', 'type', 'q']),
  component: lazyRouteComponent(() => import('./Workers'), 'Workers'),
});
