/** `/login?next=`, and the one-time link `/login#t=…`. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute } from '@/app/root';
import { pick } from '@/app/search';

export const loginRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/login',
  validateSearch: (search): { next?: string } => pick(search, ['next']),
  component: lazyRouteComponent(() => import('./Login'), 'Login'),
});
