/** One execution: `?tab=&step=&attempt=` say what is looked at. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { executionQuery } from '@/api/queries/executions';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';

export const executionRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/executions/$id',
  staticData: { parent: { title: 'shell.executions', to: '/executions' }, param: 'id' },
  validateSearch: (
    search,
  ): { tab?: string; step?: string; attempt?: string; type?: string; at?: string } =>
    pick(search, ['tab', 'step', 'attempt', 'type', 'at']),
  loader: ({ context, params }) => context.query.ensureQueryData(executionQuery(params.id)),
  component: lazyRouteComponent(() => import('./Execution'), 'ExecutionPage'),
});
