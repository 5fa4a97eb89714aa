/** External tasks, and one of them. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';

export const tasksRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tasks',
  staticData: { title: 'shell.externalTasks' },
  validateSearch: (search: Record<string, unknown>) =>
    pick(search, ['type', 'status', 'worker', 'execution']),
  component: lazyRouteComponent(() => import('./Tasks'), 'Tasks'),
});

export const taskRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/tasks/$id',
  staticData: { parent: { title: 'shell.externalTasks', to: '/tasks' }, param: 'id' },
  component: lazyRouteComponent(() => import('./TaskPage'), 'TaskPage'),
});
