import { z } from 'zod'
import { Key } from '../keys.ts'
import { LoginProvider } from '../login-provider.ts'
import { Organization } from '../organization.ts'
import { Person } from '../people.ts'
import { Timestamp } from '../primitives.ts'
import { RecordedSink } from '../sinks.ts'
import { Webhook } from '../webhooks.ts'
import { by, EVENT } from './row.ts'
import type { EntryRows } from './row.ts'

const state = { agent: 'never', event: null, carried: 'state' } as const

const iam = (does: 'creation' | 'change' | 'deletion') => ({ area: 'iam', does }) as const
const configuration = (does: 'creation' | 'change' | 'deletion') =>
  ({ area: 'configuration', does }) as const

const organization = Organization.omit({
  decisions_this_month: true,
  warnings: true,
  ledger: true,
}).strict()
const operator = z.string().optional()
const reason = z.string().optional()

const key = Key.strict()

const people = {
  ...state,
  data: z.strictObject({ member: Person.omit({ ledger: true }).strict(), ...by }),
  touches: 'all',
} as const
const { member } = people.data.shape

const providers = {
  ...state,
  data: z.strictObject({
    login_provider: LoginProvider.omit({ redirect_uri: true, ledger: true }).strict(),
    ...by,
  }),
  change: null,
  touches: [],
} as const

const webhook = Webhook.strict()
const webhooks = {
  ...state,
  data: z.strictObject({ webhook, ...by }),
  touches: [],
} as const

const sink = RecordedSink.strict()
const sinks = { ...state, data: z.strictObject({ sink, ...by }), touches: [] } as const

export const organizationKinds = {
  'organization.created': {
    ...state,
    says: 'the organization was created; entry 1',
    data: z.strictObject({
      organization: organization.describe('with plan and every setting'),
      operator,
    }),
    change: configuration('creation'),
    touches: 'all',
  },
  'organization.updated': {
    ...state,
    says: 'the plan, a setting, a limit, the suspension or a scheduled deletion changed',
    data: z.strictObject({
      organization,
      acknowledge_short_retention: z.boolean().optional(),
      reason: reason.describe('of a suspension or deletion'),
      operator: operator.describe("name of the operator's key"),
      policy_set: z
        .strictObject({ id: z.string(), plan_digest: z.string() })
        .optional()
        .describe('the policy set and the plan that made the change'),
      ...by,
    }),
    change: configuration('change'),
    touches: 'all',
  },
  'organization.deleted': {
    ...state,
    says: 'the operator deletes the organization; the last entry',
    data: z.strictObject({
      organization_id: z.string(),
      delete_after: Timestamp.nullable(),
      reason,
      operator,
    }),
    change: configuration('deletion'),
    touches: 'all',
  },
  'key.created': {
    ...state,
    says: 'an ingest key was created',
    data: z.strictObject({
      key: key.describe('with role and person'),
      rotated_from: z.string().optional().describe('id'),
      person: by.person.describe('the author'),
    }),
    change: iam('creation'),
    touches: [],
  },
  'key.revoked': {
    ...state,
    says: 'an ingest key was revoked or replaced by a rotation',
    data: z.strictObject({ key, key_id: z.string(), ...by }),
    change: iam('deletion'),
    touches: [],
  },
  'person.invited': {
    ...people,
    says: 'a person was invited to the console',
    data: people.data.extend({ member: member.describe('the whole person') }),
    change: iam('creation'),
  },
  'person.updated': {
    ...people,
    says: 'a person was changed or enabled again',
    change: iam('change'),
  },
  'person.disabled': {
    ...people,
    says: 'a person was disabled, and their sessions ended',
    change: iam('change'),
  },
  'person.removed': {
    ...people,
    says: 'a person was removed, and their sessions ended',
    change: iam('deletion'),
  },
  'person.signed_in': {
    ...people,
    says: 'a person signed in with the identity provider',
    data: z.strictObject({ member, issuer: z.string() }),
    change: null,
  },
  'login_provider.set': {
    ...providers,
    says: 'the OpenID provider of the organization was set; its secret is not in the entry',
  },
  'login_provider.removed': {
    ...providers,
    says: 'the OpenID provider of the organization was removed',
  },
  'person.signed_out': {
    ...EVENT,
    says: 'a person signed out',
    data: z.strictObject({ person_id: z.string(), ...by }),
    agent: 'never',
  },
  'person.sign_in_refused': {
    ...EVENT,
    says: 'an account of the identity provider was refused',
    data: z.strictObject({
      issuer: z.string(),
      subject: z.string(),
      email: z.string().nullable().describe('the verified address or null'),
      reason: z.string(),
      person_id: z.string().optional(),
    }),
    agent: 'never',
  },
  'webhook.created': {
    ...webhooks,
    says: 'a webhook was created',
    data: webhooks.data.extend({ webhook: webhook.describe('without the query of its URL') }),
    change: configuration('creation'),
  },
  'webhook.deleted': {
    ...webhooks,
    says: 'a webhook was deleted',
    change: configuration('deletion'),
  },
  'webhook.tested': {
    ...EVENT,
    says: 'a test message was sent to a webhook',
    data: z.strictObject({ webhook_id: z.string(), webhook, ...by }),
    agent: 'never',
  },
  'webhook.disabled': {
    ...webhooks,
    says: 'the receiver answered 410 Gone',
    data: z.strictObject({ webhook }),
    change: configuration('change'),
  },
  'sink.created': {
    ...sinks,
    says: 'a sink was created',
    data: z.strictObject({
      sink: sink.describe('without the secrets of its target'),
      from_seq: z.int().describe('the first entry that it sends'),
      ...by,
    }),
    change: configuration('creation'),
  },
  'sink.updated': {
    ...sinks,
    says: 'a sink was changed',
    data: z.strictObject({
      sink,
      from_seq: z.int().optional().describe('if the sink was rewound or moved forward'),
      ...by,
    }),
    change: configuration('change'),
  },
  'sink.deleted': { ...sinks, says: 'a sink was deleted', change: configuration('deletion') },
} as const satisfies EntryRows
