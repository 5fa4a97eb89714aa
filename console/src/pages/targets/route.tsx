/** Targets. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';

export const targetsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/targets',
  staticData: { title: 'shell.targets' },
  validateSearch: (search: Record<string, unknown>) => pick(search, ['state', 'q', 'open']),
  component: lazyRouteComponent(() => import('./Targets'), 'Targets'),
});
