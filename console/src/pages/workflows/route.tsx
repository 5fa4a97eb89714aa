/** The list of workflows; `?new=` is the page that makes one. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';

export interface WorkflowsSearch {
  q?: string;
  sort?: string;
  /** The template of a new workflow. */
  new?: string;
}

export const workflowsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/workflows',
  staticData: { title: 'shell.workflows' },
  validateSearch: (search): WorkflowsSearch => pick(search, ['q', 'sort', 'new']),
  component: lazyRouteComponent(() => import('./Workflows'), 'Workflows'),
});
