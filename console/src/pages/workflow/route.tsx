/** One workflow: `?tab=` what is looked at, `v=` and `with=` versions, `execution=` the one on the graph. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { workflowQuery } from '@/api/queries/workflows';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';

export interface WorkflowSearch {
  tab?: string;
  v?: string;
  with?: string;
  execution?: string;
  step?: string;
}

export const workflowRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/workflows/$id',
  staticData: { parent: { title: 'shell.workflows', to: '/workflows' }, param: 'id' },
  validateSearch: (search): WorkflowSearch =>
    pick(search, ['tab', 'v', 'with', 'execution', 'step']),
  loader: ({ context, params }) => context.query.ensureQueryData(workflowQuery(params.id)),
  component: lazyRouteComponent(() => import('./Workflow'), 'WorkflowPage'),
});
