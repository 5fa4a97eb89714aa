/** The list of executions; its search is its state. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import type { ExecutionFilter } from '@/api/queries/executions';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';
import { FILTER_KEYS } from './filter';

export const executionsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/executions',
  staticData: { title: 'shell.executions' },
  validateSearch: (search): ExecutionFilter => pick(search, [...FILTER_KEYS, 'q', 'from', 'to']),
  component: lazyRouteComponent(() => import('./Executions'), 'Executions'),
});
