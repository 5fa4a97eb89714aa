/** Triggers: the list, a new one, one, its ledger, its requests. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';

const PARENT = { title: 'shell.triggers', to: '/triggers' } as const;

export const triggersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/triggers',
  staticData: { title: 'shell.triggers' },
  validateSearch: (search: Record<string, unknown>) =>
    pick(search, ['type', 'workflow', 'enabled', 'overdue', 'q']),
  component: lazyRouteComponent(() => import('./list/Triggers'), 'Triggers'),
});

export const triggerRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/triggers/$id',
  staticData: { parent: PARENT, param: 'id' },
  validateSearch: (search: Record<string, unknown>) => pick(search, ['range']),
  component: lazyRouteComponent(() => import('./TriggerPage'), 'TriggerPage'),
});

export const newTriggerRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/workflows/$id/triggers/new',
  staticData: { title: 'trigger.new', parent: PARENT },
  validateSearch: (search: Record<string, unknown>) => pick(search, ['type']),
  component: lazyRouteComponent(() => import('./NewTriggerPage'), 'NewTriggerPage'),
});

export const slotsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/triggers/$id/slots',
  staticData: { parent: PARENT, param: 'id' },
  validateSearch: (search: Record<string, unknown>) => pick(search, ['status', 'from', 'to']),
  component: lazyRouteComponent(() => import('./schedule/SlotsPage'), 'SlotsPage'),
});

export const requestsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/triggers/$id/requests',
  staticData: { parent: PARENT, param: 'id' },
  validateSearch: (search: Record<string, unknown>) =>
    pick(search, ['status', 'test', 'from', 'to', 'open']),
  component: lazyRouteComponent(() => import('./webhook/RequestsPage'), 'RequestsPage'),
});
