/** Every route of the console. A page adds its route here. */
import { createRouter } from '@tanstack/react-router';
import { basePath } from '@/api/base';
import { alertsRoute } from '@/pages/alerts/route';
import { jobRoute, jobsRoute } from '@/pages/bulk/route';
import { channelsRoute } from '@/pages/channels/route';
import { letterRoute, lettersRoute } from '@/pages/dlq/route';
import { executionRoute } from '@/pages/execution/route';
import { executionsRoute } from '@/pages/executions/route';
import { loginRoute } from '@/pages/login/route';
import { nodesRoute } from '@/pages/nodes/route';
import { overviewRoute } from '@/pages/overview/route';
import { scheduledListRoute, scheduledNewRoute, scheduledRoute } from '@/pages/scheduled/route';
import { targetsRoute } from '@/pages/targets/route';
import { taskRoute, tasksRoute } from '@/pages/tasks/route';
import {
  newTriggerRoute,
  requestsRoute,
  slotsRoute,
  triggerRoute,
  triggersRoute,
} from '@/pages/triggers/route';
import { workersRoute } from '@/pages/workers/route';
import { workflowRoute } from '@/pages/workflow/route';
import { workflowsRoute } from '@/pages/workflows/route';
import { Failure } from './errors/Failure';
import { NotFound } from './errors/NotFound';
import { queryClient } from './query';
import { rootRoute, shellRoute } from './root';
import { parseSearch, stringifySearch } from './search';

const routeTree = rootRoute.addChildren([
  loginRoute,
  shellRoute.addChildren([
    workflowsRoute,
    workflowRoute,
    triggersRoute,
    newTriggerRoute,
    triggerRoute,
    slotsRoute,
    requestsRoute,
    executionsRoute,
    executionRoute,
    lettersRoute,
    letterRoute,
    overviewRoute,
    tasksRoute,
    taskRoute,
    workersRoute,
    jobsRoute,
    jobRoute,
    targetsRoute,
    channelsRoute,
    alertsRoute,
    nodesRoute,
    scheduledListRoute,
    scheduledNewRoute,
    scheduledRoute,
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: basePath,
  context: { query: queryClient },
  parseSearch,
  stringifySearch,
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultErrorComponent: Failure,
  defaultNotFoundComponent: NotFound,
  scrollRestoration: false,
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}
