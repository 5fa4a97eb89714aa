/** How senders are recognised: which header counts by default, and who makes the secret. */
import type { Method } from './webhookDraft';

/** Where the signature or key stands unless the settings name another header. */
export const HEADER: Record<Method, string | undefined> = {
  hmac: 'X-Signature',
  api_key: 'X-API-Key',
  standard_webhooks: 'webhook-signature',
  github: 'X-Hub-Signature-256',
  stripe: 'Stripe-Signature',
  slack: 'X-Slack-Signature',
  shopify: 'X-Shopify-Hmac-Sha256',
  teams: 'Authorization',
  none: undefined,
};

/** Their header can be chosen. */
export const namesHeader = (method: Method) => method === 'hmac' || method === 'api_key';

/** The sender makes the secret, and it is typed in here. */
export const senderMakesSecret = (method: Method) => /^(stripe|slack|shopify|teams)$/.test(method);

/** Senders with a guide, and what their settings are. */
export const SENDERS = [
  'servicenow',
  'teams',
  'github',
  'stripe',
  'slack',
  'shopify',
  'standard_webhooks',
] as const;
export type Sender = (typeof SENDERS)[number];

export const METHOD_OF: Record<Sender, Method> = {
  servicenow: 'hmac',
  teams: 'teams',
  github: 'github',
  stripe: 'stripe',
  slack: 'slack',
  shopify: 'shopify',
  standard_webhooks: 'standard_webhooks',
};

/** The business rule of ServiceNow that signs and sends. */
export const serviceNowRule = (
  address: string,
  header: string,
) => `(function executeRule(current, previous) {
  var address = gs.getProperty('refire.address', '${address}');
  var secret = gs.getProperty('refire.secret');
  var body = JSON.stringify({
    event_type: 'incident.created',
    incident_id: current.getValue('number'),
    priority: current.getValue('priority'),
    description: current.getValue('short_description')
  });
  var mac = new GlideCertificateEncryption()
    .generateMac(GlideStringUtil.base64Encode(secret), 'HmacSHA256', body);
  var request = new sn_ws.RESTMessageV2();
  request.setEndpoint(address);
  request.setHttpMethod('POST');
  request.setRequestHeader('Content-Type', 'application/json');
  request.setRequestHeader('${header}', 'sha256=' + mac);
  request.setRequestBody(body);
  request.executeAsync();
})(current, previous);`;

/** A sample that a sender might send. */
export const SAMPLE = `{
  "event_type": "incident.created",
  "incident_id": "INC0012345",
  "priority": "2",
  "description": "Server DB-01 is not responding"
}`;
