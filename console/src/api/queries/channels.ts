/** Channels: ways to tell people; and the messages that went through them. */
import { queryOptions } from '@tanstack/react-query';
import { answer, api, call, read } from '../client';
import type { Schema } from '../types';

export type Channel = Schema<'Channel'>;
export type ChannelType = Schema<'ChannelType'>;
export type NoticeKind = Schema<'NoticeKind'>;
export type Notification = Schema<'Notification'>;
export type ChannelPreview = Schema<'ChannelPreview'>;

/** A channel as it is sent: without what the server adds. */
export interface ChannelBody {
  name: string;
  type: ChannelType;
  enabled: boolean;
  language: string;
  kinds: string[];
  workflows: string[];
  config: Record<string, unknown>;
}

export const channelsKey = ['channels'];
export const notificationsKey = ['notifications'];
const EVERY_MS = 5_000;
const SENDING_EVERY_MS = 1_000;
const PAGE_ROWS = 100;

export const channelsQuery = queryOptions({
  queryKey: channelsKey,
  queryFn: async ({ signal }) => (await read('/api/channels', { signal })).items,
  refetchInterval: EVERY_MS,
});

/** Channels through which nothing gets, for the number beside the page's name. */
export const brokenChannels = queryOptions({
  ...channelsQuery,
  refetchInterval: 15_000,
  select: (channels: Channel[]) =>
    channels.filter((channel) => channel.enabled && channel.broken).length,
});

const path = (id: string, rest = '') => `/api/channels/${encodeURIComponent(id)}${rest}`;

/** The request that makes or changes a channel, the same for sending and for curl. */
export function saveRequest(body: ChannelBody, known?: Channel) {
  if (!known) return { method: 'POST', path: '/api/channels', body };
  const { type: _, ...change } = body;
  return {
    method: 'PATCH',
    path: path(known.id),
    body: change,
    headers: { 'If-Match': `"${known.version}"` },
  };
}

export function saveChannel(body: ChannelBody, known?: Channel): Promise<Channel> {
  const { method, path: at, body: sent, headers } = saveRequest(body, known);
  return call(method, at, { body: sent, headers });
}

export function switchChannel(id: string, enabled: boolean): Promise<Channel> {
  return call('PATCH', path(id), { body: { enabled } });
}

export const deleteRequest = (id: string) => ({ method: 'DELETE', path: path(id) });

export function deleteChannel(id: string): Promise<void> {
  return call('DELETE', path(id));
}

/** What the service would be sent, by a channel that need not be saved. */
export function previewChannel(channel: ChannelBody, phase: string, signal: AbortSignal) {
  return call<ChannelPreview>('POST', '/api/channels/preview', {
    body: { channel, phase },
    signal,
  });
}

export const testRequest = (id: string) => ({ method: 'POST', path: path(id, '/test') });

export function testChannel(id: string) {
  return answer(api.POST('/api/channels/{id}/test', { params: { path: { id } } }));
}

export interface NotificationFilter {
  channel?: string;
  status?: string;
}

export function readNotifications(
  { channel, status }: NotificationFilter,
  cursor: string | null,
  signal?: AbortSignal,
) {
  const query = { channel, status, limit: PAGE_ROWS, cursor };
  return read('/api/notifications', { query, signal });
}

export const isUnderWay = ({ status }: Pick<Notification, 'status'>) =>
  status === 'sending' || status === 'retrying';

export const notificationQuery = (id: string) =>
  queryOptions({
    queryKey: [...notificationsKey, 'one', id],
    queryFn: ({ signal }) => read('/api/notifications/{id}', { path: { id }, signal }),
    refetchInterval: (query) =>
      query.state.data && !isUnderWay(query.state.data) ? false : SENDING_EVERY_MS,
  });

export const resendRequest = (id: string) => ({
  method: 'POST',
  path: `/api/notifications/${encodeURIComponent(id)}/resend`,
});

export function resend(id: string) {
  return answer(api.POST('/api/notifications/{id}/resend', { params: { path: { id } } }));
}
