/** Channels, and the messages that went through them. */
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { shellRoute } from '@/app/root';
import { pick } from '@/app/search';

export const channelsRoute = createRoute({
  getParentRoute: () => shellRoute,
  path: '/channels',
  staticData: { title: 'shell.channels' },
  validateSearch: (search: Record<string, unknown>) =>
    pick(search, ['tab', 'channel', 'status', 'open']),
  component: lazyRouteComponent(() => import('./ChannelsPage'), 'ChannelsPage'),
});
