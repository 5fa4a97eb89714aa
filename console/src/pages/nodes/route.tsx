/** Nodes. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';

export const nodesRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/nodes',
  staticData: { title: 'shell.nodes' },
  component: lazyRouteComponent(() => import('./Nodes'), 'Nodes'),
});
