/** The dead letters, and one of them by its address. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';

export const lettersRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dlq',
  staticData: { title: 'shell.dlq' },
  validateSearch: (search: Record<string, unknown>) =>
    pick(search, [
      'workflow',
      'error_type',
      'status',
      'from',
      'to',
      'q',
      'fingerprint',
      'archived',
      'target',
      'view',
      'open',
    ]),
  component: lazyRouteComponent(() => import('./Letters'), 'Letters'),
});

export const letterRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/dlq/$id',
  staticData: { parent: { title: 'shell.dlq', to: '/dlq' }, param: 'id' },
  component: lazyRouteComponent(() => import('./LetterPage'), 'LetterPage'),
});
