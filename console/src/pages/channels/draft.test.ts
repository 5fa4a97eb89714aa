import { describe, expect, it } from 'vitest';
import type { Channel } from '@/api/queries/channels';
import { bodyOf, draftOf, NEW_CHANNEL } from './draft';

const MAIL = {
  id: 'chn_1',
  name: 'On call',
  type: 'email',
  enabled: true,
  language: 'zh-TW',
  kinds: ['dead_letter.created'],
  workflows: ['crm_*', 'billing'],
  config: {
    host: 'smtp.example.com',
    port: 465,
    tls: 'tls',
    from: 'refire@example.com',
    to: ['a@example.com', 'b@example.com'],
    username: 'u',
    password: '***',
  },
  version: 3,
  created_at: '',
  updated_at: '',
} as Channel;

describe('the form of a channel', () => {
  it('gives back what it was made of, with the hidden secret as it is', () => {
    const { id: _, version: __, created_at: ___, updated_at: ____, ...sent } = MAIL;
    expect(bodyOf(draftOf(MAIL))).toEqual(sent);
  });

  it('leaves out what is empty, and takes the first choice where none was made', () => {
    const draft = { ...NEW_CHANNEL, name: 'ops', config: { url: ' https://example.com/x ' } };
    expect(bodyOf(draft)).toMatchObject({
      type: 'teams',
      workflows: [],
      config: { url: 'https://example.com/x', envelope: 'message' },
    });
    expect(bodyOf({ ...draft, type: 'pagerduty', config: { routing_key: 'k' } }).config).toEqual({
      routing_key: 'k',
    });
  });

  it('lets the server judge a number that is none', () => {
    const draft = { ...NEW_CHANNEL, type: 'email' as const, config: { host: 'h', port: 'x' } };
    expect(bodyOf(draft).config.port).toBe('x');
  });
});
