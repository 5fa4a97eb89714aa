/** Alerts, rules and silences. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';

export const alertsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/alerts',
  staticData: { title: 'shell.alerts' },
  validateSearch: (search: Record<string, unknown>) =>
    pick(search, ['tab', 'phase', 'rule_id', 'subject']),
  component: lazyRouteComponent(() => import('./AlertsPage'), 'AlertsPage'),
});
