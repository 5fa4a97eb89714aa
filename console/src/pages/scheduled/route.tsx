/** Scheduled tasks: the list, a new one, one with its records, and its form. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';

const parent = { title: 'shell.scheduled', to: '/scheduled' } as const;

export const scheduledListRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/scheduled',
  staticData: { title: 'shell.scheduled' },
  validateSearch: (search: Record<string, unknown>) =>
    pick(search, ['type', 'schedule', 'active', 'finished', 'q']),
  component: lazyRouteComponent(() => import('./ScheduledList'), 'ScheduledList'),
});

export const scheduledNewRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/scheduled/new',
  staticData: { parent, title: 'scheduled.new' },
  validateSearch: (search: Record<string, unknown>) => pick(search, ['copy']),
  component: lazyRouteComponent(() => import('./NewTask'), 'NewTask'),
});

export const scheduledRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/scheduled/$id',
  staticData: { parent, param: 'id' },
  validateSearch: (search: Record<string, unknown>) =>
    pick(search, ['cycle', 'status', 'retry', 'open', 'tab']),
  component: lazyRouteComponent(() => import('./ScheduledPage'), 'ScheduledPage'),
});
