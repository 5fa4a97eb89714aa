/** Definitions to start from. */
import type { PlainKey } from '@/i18n/t';

export interface Template {
  name: string;
  title: PlainKey;
  text: PlainKey;
  definition: string;
}

const HTTP = `# Calls a service, and tries again when it fails.
id: my_workflow
name: Call a service
retry: { maxRetries: 5, initialDelay: 2s, strategy: exponential, jitter: proportional }
steps:
  - id: call
    type: http
    config:
      method: POST
      url: https://api.example.com/orders
      headers: { Accept: application/json }
      body: { order: "\${input.order_id}" }
      timeout: 30s
`;

const WEBHOOK = `# What a webhook sends is the input. Add the webhook under "Triggers" when this is saved.
id: my_webhook
name: Pass an event on
steps:
  - id: forward
    type: http
    config:
      method: POST
      url: https://api.example.com/events
      body:
        kind: "\${input.event_type}"
        number: "\${input.incident_id}"
        event: "\${input}"
`;

const SAGA = `# If the second step fails for good, the first one is undone.
id: my_saga
name: Book a trip
retry: { maxRetries: 3, initialDelay: 1s }
steps:
  - id: hotel
    type: http
    compensate: cancel_hotel
    config:
      method: POST
      url: https://travel.example.com/hotels
      body: { city: "\${input.city}" }
  - id: flight
    type: http
    config:
      method: POST
      url: https://travel.example.com/flights
      body: { to: "\${input.city}" }
  - id: cancel_hotel
    type: http
    config:
      method: DELETE
      url: "https://travel.example.com/hotels/\${steps.hotel.output.body.booking}"
output: { hotel: "\${steps.hotel.output.body.booking}" }
`;

const EXTERNAL = `# A worker outside fetches the task, does it and reports its result.
id: my_task
name: Work for a worker
steps:
  - id: resize
    type: external_task
    config:
      taskType: images.resize
      input: { image: "\${input.image_url}", width: "\${input.width ?? 800}" }
      timeout: 10m
      lockDuration: 2m
      retries: 3
`;

export const TEMPLATES: Template[] = [
  { name: 'http', title: 'workflows.tplHttp', text: 'workflows.tplHttpText', definition: HTTP },
  {
    name: 'webhook',
    title: 'workflows.tplWebhook',
    text: 'workflows.tplWebhookText',
    definition: WEBHOOK,
  },
  { name: 'saga', title: 'workflows.tplSaga', text: 'workflows.tplSagaText', definition: SAGA },
  {
    name: 'external',
    title: 'workflows.tplExternal',
    text: 'workflows.tplExternalText',
    definition: EXTERNAL,
  },
];
