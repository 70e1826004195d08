import { z } from 'zod'
import { endpoint } from './endpoint.ts'
import { Receipt } from './ledger.ts'
import { component, page, Paging, PathId, strictComponent, Timestamp } from './primitives.ts'

/** The events of webhooks. Each is an entry of the ledger and is sent after its commit. */
export const WebhookEvent = z
  .enum([
    'approval.requested',
    'approval.decided',
    'approval.expired',
    'approval.consumed',
    'authorization.denied',
    'budget.threshold',
    'enforcement.gap',
    'mcp.tool_changed',
    'policy_set.drifted',
    'quota.threshold',
    'spend.threshold',
  ])
  .meta({ id: 'WebhookEvent' })
export type WebhookEvent = z.infer<typeof WebhookEvent>

const DeliveredEvent = z.enum([...WebhookEvent.options, 'webhook.test'])

const Format = z
  .enum(['standard', 'slack', 'teams', 'email'])
  .describe('Shape of the messages: Standard Webhooks for programs; the others are for people')
export type WebhookFormat = z.infer<typeof Format>

export const WebhookInput = strictComponent('WebhookInput', {
  url: z
    .string()
    .max(2048)
    .describe(
      'https on port 443, a name of the public internet, no user name, no fragment. For `email`: `mailto:` with addresses, or alone for those who can vote on a request',
    ),
  format: Format.default('standard'),
  events: z
    .array(WebhookEvent)
    .min(1)
    .max(WebhookEvent.options.length)
    .refine((events) => new Set(events).size === events.length, 'must name each event once')
    .optional()
    .describe('Default: all; for other formats than `standard`, `approval.requested`'),
  description: z.string().max(1000).nullable().default(null),
  enabled: z.boolean().default(true),
})
export type WebhookInput = z.infer<typeof WebhookInput>

const webhook = {
  id: z.string(),
  url: z.string(),
  format: Format,
  events: z.array(WebhookEvent),
  description: z.string().nullable(),
  enabled: z.boolean(),
  disabled_reason: z.enum(['gone']).nullable().describe('`gone`: the receiver answered 410'),
  created_at: Timestamp,
  created_by: z.string(),
  updated_at: Timestamp,
}

export const Webhook = component('Webhook', webhook)
export type Webhook = z.infer<typeof Webhook>

export const WebhookDelivery = component('WebhookDelivery', {
  message_id: z.string(),
  event: DeliveredEvent,
  status: z.enum(['delivered', 'retrying', 'failed']),
  at: Timestamp,
  attempts: z.int(),
  http_status: z.int().nullable(),
  error: z.string().nullable().describe('A stable code; contains no data of the receiver'),
})
export type WebhookDelivery = z.infer<typeof WebhookDelivery>

const Attempt = z.object({
  at: Timestamp,
  status: z.int().nullable().describe('HTTP status of the receiver; null without a response'),
  error: z.string().nullable().describe('A stable code; contains no data of the receiver'),
  duration_ms: z.int(),
})

/** A message for one webhook, with every attempt. */
export const Delivery = component('Delivery', {
  id: z.string().describe('The `webhook-id` of the message'),
  event: DeliveredEvent,
  created_at: Timestamp,
  state: z.enum(['pending', 'delivered', 'failed']).describe('State of the delivery'),
  attempts: z.array(Attempt).describe('The last twenty, oldest first'),
  next_attempt_at: Timestamp.nullable().describe('null unless `state` is `pending`'),
})
export type Delivery = z.infer<typeof Delivery>

const Id = z.strictObject({ id: PathId })

export const webhooks = {
  listWebhooks: endpoint('GET /v1/webhooks', {
    plan: 'team',
    summary: 'List webhooks',
    text: 'Lists the webhooks of the organization. Their secrets are never shown again.',
    query: z.strictObject(Paging),
    ok: page(Webhook),
  }),
  createWebhook: endpoint('POST /v1/webhooks', {
    plan: 'team',
    viaWriter: true,
    secretField: 'secret',
    // Receivers put their tokens into the query.
    sealedField: 'url',
    summary: 'Create a webhook; its signing secret is shown once',
    text: 'Creates a webhook. Events are sent as Standard Webhooks messages, signed with `secret`, which is shown once. The URL must be https on port 443 of the public internet.',
    problems: ['too_many_webhooks'],
    body: WebhookInput,
    ok: z.object({
      ...webhook,
      secret: z
        .string()
        .nullable()
        .describe('null in the repeat of an Idempotency-Key, and for formats without signatures'),
      secret_available: z.boolean().optional(),
      ledger: Receipt.optional(),
    }),
    status: 201,
    sends: ['Location'],
  }),
  getWebhook: endpoint('GET /v1/webhooks/{id}', {
    plan: 'team',
    summary: 'Get a webhook and the state of its deliveries',
    text: 'Returns one webhook with the number of pending messages and the last delivery.',
    problems: ['webhook_not_found'],
    params: Id,
    ok: z.object({
      ...webhook,
      pending: z.int().describe('Messages waiting for their next attempt'),
      last_delivery: WebhookDelivery.nullable().describe('The latest attempt of the last 7 days'),
    }),
  }),
  deleteWebhook: endpoint('DELETE /v1/webhooks/{id}', {
    plan: 'team',
    viaWriter: true,
    summary: 'Delete a webhook and its undelivered messages',
    text: 'Deletes a webhook and its undelivered messages.',
    problems: ['webhook_not_found'],
    params: Id,
  }),
  listDeliveries: endpoint('GET /v1/webhooks/{id}/deliveries', {
    plan: 'team',
    summary: 'List the deliveries of a webhook in the last 7 days, newest first',
    text: 'Lists the messages for a webhook with every attempt, newest first. Deliveries are kept for 7 days after they ended.',
    problems: ['webhook_not_found'],
    params: Id,
    query: z.strictObject(Paging),
    ok: page(Delivery),
  }),
  redeliver: endpoint('POST /v1/webhooks/{id}/deliveries/{deliveryID}/redeliver', {
    plan: 'team',
    summary: 'Send a message again, now',
    text: 'Sends a message again, whatever its state; the receiver recognizes the repeat by the same `webhook-id`. Poll the deliveries for the result.',
    problems: ['webhook_not_found', 'delivery_not_found'],
    params: z.strictObject({
      id: PathId,
      deliveryID: PathId.describe('Identifier of the delivery'),
    }),
    ok: Delivery,
    status: 202,
  }),
  testWebhook: endpoint('POST /v1/webhooks/{id}/test', {
    plan: 'team',
    viaWriter: true,
    summary: 'Send a test message to a webhook',
    text: 'Sends a message of the type `webhook.test`, signed like every other one, and records `webhook.tested` in the ledger. A disabled webhook receives nothing.',
    problems: ['webhook_not_found'],
    params: Id,
    ok: Delivery,
    status: 202,
  }),
}
