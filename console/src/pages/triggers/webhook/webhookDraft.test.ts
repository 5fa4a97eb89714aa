import { describe, expect, it } from 'vitest';
import { stringifyExact } from '@/api/exact';
import type { Trigger } from '@/api/queries/triggers';
import { withRaw } from '@/api/queries/webhooks';
import { groupRefused } from './Quarantine';
import { signedCurl } from './signedCurl';
import { headersOf } from './Tester';
import { typedValue, valueText, valueType, webhookDraft, webhookSettings } from './webhookDraft';

const trigger = (settings: object) =>
  ({
    id: 'trg_1',
    trigger_type: 'webhook',
    enabled: true,
    version: 1,
    ...settings,
  }) as unknown as Trigger;

describe('webhooks as a form', () => {
  it('come back as they were', () => {
    const settings = {
      authentication: 'hmac',
      signature_header: 'X-ServiceNow-Signature',
      prefix: 'v1=',
      filters: [
        { json_path: '$.event_type', operator: 'equals', value: 'incident.created' },
        { json_path: '$.priority', operator: 'in', value: ['1', '2'] },
        { json_path: '$.id', operator: 'exists' },
        { json_path: '$.count', operator: 'gt', value: 3 },
      ],
      idempotency_paths: ['$.event_type', '$.a[?@.b,1]'],
      ignore_idempotency_header: true,
      ip_allow: ['203.0.113.0/24'],
      rate_limit: { per_second: 20, burst: 100 },
      dead_man: { success_within: '2d' },
      retry: false,
    };
    expect(webhookSettings(webhookDraft(trigger(settings)))).toEqual({
      trigger_type: 'webhook',
      ...settings,
      enabled: true,
    });
  });

  it('read a value as JSON where it is JSON', () => {
    expect(typedValue('incident.created')).toBe('incident.created');
    expect(typedValue('1')).toBe(1);
    expect(typedValue('"1"')).toBe('1');
    expect(stringifyExact(typedValue('123456789012345678901234567890'))).toBe(
      '123456789012345678901234567890',
    );
    expect(valueText('1')).toBe('"1"');
    expect(valueText('plain')).toBe('plain');
    expect([valueType('x'), valueType('1'), valueType('[1]'), valueType('true')]).toEqual([
      'text',
      'number',
      'list',
      'boolean',
    ]);
    expect(valueType('123456789012345678901234567890')).toBe('number');
  });

  it('drop what another method has no use for', () => {
    const draft = webhookDraft(
      trigger({ authentication: 'hmac', signature_header: 'X', prefix: 'p' }),
    );
    expect(webhookSettings({ ...draft, method: 'github' })).toEqual({
      trigger_type: 'webhook',
      authentication: 'github',
      enabled: true,
    });
  });
});

describe('requests of webhooks', () => {
  it('send a body as it was typed', () => {
    expect(withRaw({ dry_run: true }, '{"n": 1.0}')).toBe('{"dry_run":true,"body":{"n": 1.0}}');
    expect(withRaw({ headers: undefined }, '[]')).toBe('{"body":[]}');
  });

  it('become a command without the key', () => {
    const sent = {
      method: 'POST',
      url: 'http://h/webhooks/wh_1',
      headers: [{ name: 'X-API-Key', value: '[removed]' }],
      body: `{"a":"it's"}`,
      key_header: 'X-API-Key',
    };
    expect(signedCurl(sent)).toBe(
      `curl -sSi 'http://h/webhooks/wh_1' \\\n  -H 'X-API-Key: '"$REFIRE_WEBHOOK_KEY" \\\n  --data-binary '{"a":"it'\\''s"}'`,
    );
  });

  it('read typed headers', () => {
    expect(headersOf('')).toBeUndefined();
    expect(headersOf('X-Signature: a:b')).toEqual({ 'X-Signature': 'a:b' });
  });

  it('are grouped by what was wrong', () => {
    const refused = (error: string, at: string, ip = '203.0.113.5') => ({
      id: at,
      trigger_id: 't',
      received_at: at,
      status: 'filtered' as const,
      source_ip: ip,
      test: false,
      body_bytes: 1,
      error,
    });
    const groups = groupRefused([
      refused('filter 1 ($.a equals "x"): the value is "y"', '2026-11-18T14:06:00Z'),
      refused('filter 1 ($.a equals "x"): the value is "z"', '2026-11-18T14:05:00Z', '10.0.0.1'),
      refused('filter 2 ($.b exists)', '2026-11-18T14:07:00Z'),
    ]);
    expect(groups).toMatchObject([
      { count: 2, since: '2026-11-18T14:05:00Z', ips: ['203.0.113.5', '10.0.0.1'] },
      { count: 1 },
    ]);
  });
});
