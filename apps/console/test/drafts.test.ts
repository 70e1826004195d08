import {
  ApprovalRuleInput,
  IssuerInput,
  LoginProviderInput,
  PolicyInput,
  SpendLimitInput,
  TrustPolicyInput,
  WebhookEvent,
} from '@remit/contract'
import type { Contract } from '@remit/contract'
import type { WholeBody, WholeClient } from '@remit/contract/client'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { approvalRuleDrafts } from '../src/pages/approval-rules/draft.ts'
import { issuerDrafts } from '../src/pages/issuers/draft.ts'
import { policyDrafts } from '../src/pages/policies/draft.ts'
import { withCondition } from '../src/pages/rules/validation.ts'
import { bodyOf as loginInput, draftOf as loginDraft } from '../src/pages/settings/login-draft.ts'
import { limitDrafts } from '../src/pages/spend/limit-draft.ts'
import { trustDrafts } from '../src/pages/trust/draft.ts'
import { settings } from '../src/texts/settings.ts'

const made = {
  created_at: '2026-11-01T00:00:00.000Z',
  created_by: 'key_1',
  updated_at: '2026-11-02T00:00:00.000Z',
  ledger: { seq: 1, hash: 'ab', checkpoint: '' },
  warnings: ['probably a mistake'],
}
const pattern = {
  description: ' with blanks ',
  agents: ['payer', 'support-*'],
  actions: ['payments.*'],
  resources: ['order:*'],
  condition: 'amount_usd > 5.0',
  enabled: false,
  mode: 'enforce',
}
const window = { not_before: '2026-11-01T00:00:07.000Z', expires_at: '2027-11-01T00:00:07.000Z' }

interface Schema {
  readonly shape: object
  readonly safeParse: (body: unknown) => { readonly error?: unknown }
}

interface Form {
  readonly name: string
  readonly schema: Schema
  /** A body with every member of the contract, none at its default where others allow it. */
  readonly stored: Readonly<Record<string, unknown>>
  /** Members of the answer that the server makes from it, or adds. */
  readonly answer: Readonly<Record<string, unknown>>
  readonly through: (stored: never) => object
}

const FORMS: readonly Form[] = [
  {
    name: 'policy',
    schema: PolicyInput,
    stored: { ...pattern, effect: 'allow', enabled: true, mode: 'observe', ...window },
    answer: { id: 'pol_1', revision: 3 },
    through: (stored) => policyDrafts.inputOf(policyDrafts.draftOf(stored)),
  },
  {
    name: 'disabled policy',
    schema: PolicyInput,
    stored: { ...pattern, effect: 'allow', ...window },
    answer: { id: 'pol_1', revision: 3 },
    through: (stored) => policyDrafts.inputOf(policyDrafts.draftOf(stored)),
  },
  {
    name: 'approval rule',
    schema: ApprovalRuleInput,
    stored: {
      ...pattern,
      approvers: { users: ['ada@example.com', 'bob@example.com'], roles: ['admin'] },
      required_approvals: 2,
      required_rejections: 3,
      prevent_self_approval: false,
      reason_required: true,
      comment_to_agent: true,
      request_ttl_seconds: 61,
      approval_ttl_seconds: 62,
      rejection_cooldown_seconds: 63,
      binding_context: ['amount_usd', ' a\nb '],
    },
    answer: { id: 'large-refunds' },
    through: (stored) => approvalRuleDrafts.inputOf(approvalRuleDrafts.draftOf(stored)),
  },
  {
    name: 'spend limit',
    schema: SpendLimitInput,
    stored: {
      hourly_usd: 1,
      daily_usd: 5,
      monthly_usd: 50.5,
      on_missing_amount: 'deny',
      hold_ttl_seconds: 90,
      settlement_by_agent: 'any',
    },
    answer: { agent_id: 'payer', spent: { hour: {}, day: {}, month: {} } },
    through: (stored) => limitDrafts.inputOf(limitDrafts.draftOf(stored)),
  },
  {
    name: 'trust policy',
    schema: TrustPolicyInput,
    stored: {
      description: 'Support may pay',
      effect: 'deny',
      source_agents: ['support-*'],
      target_agents: [{ labels: { env: 'prod', team: 'a b' } }],
      actions: ['pay'],
      condition: 'true',
      enabled: false,
      expires_at: window.expires_at,
    },
    answer: { id: 'tru_1' },
    through: (stored) => trustDrafts.inputOf(trustDrafts.draftOf(stored)),
  },
  {
    name: 'issuer',
    schema: IssuerInput,
    stored: {
      issuer: 'https://login.example.com',
      preset: 'entra',
      audiences: ['remit'],
      allow_foreign_audiences: true,
      jwks: { type: 'url', url: 'https://login.example.com/keys' },
      allowed_algs: ['ES256'],
      allowed_typ: ['at+jwt'],
      conditions: [{ claim: 'tid', equals: 'x' }],
      agent: { type: 'claim', claim: 'azp' },
      require_jti: true,
      replay: 'until_exp',
      scopes: ['authorize'],
      credential_ttl_seconds: 601,
      max_token_age_seconds: 602,
      clock_skew_seconds: 7,
      expires_at: window.expires_at,
      enabled: false,
    },
    answer: { id: 'idp_1', keys: { count: 1, fetched_at: null, error: null } },
    through: (stored) => issuerDrafts.inputOf(issuerDrafts.draftOf(stored)),
  },
  {
    name: 'login provider',
    schema: LoginProviderInput,
    stored: {
      issuer: 'https://login.example.com',
      client_id: 'remit',
      client_secret: null,
      scopes: 'openid email',
      role_claim: 'roles',
      role_map: [{ group: 'a=b', role: 'admin' }],
      domains: ['example.com'],
    },
    answer: {
      has_client_secret: false,
      domains: [{ domain: 'example.com', verified: true }],
      redirect_uri: 'https://remit.example.com/console/callback/org_1',
      updated_by: 'key_1',
    },
    through: (stored) => loginInput(loginDraft(stored)),
  },
]

describe.each(FORMS)('the form of a $name, which replaces it', (form) => {
  const { schema, stored, answer, through } = form

  test('is tested with every member of the contract', () => {
    expect(Object.keys(stored).toSorted()).toEqual(Object.keys(schema.shape).toSorted())
    expect(schema.safeParse(stored).error).toBeUndefined()
  })

  test('keeps every member that nobody changed, those of a newer contract too', () => {
    const newer = { member_of_tomorrow: { deep: [1] } }
    const sent = through({ ...stored, ...newer, ...made, ...answer } as never)

    expect(sent).toEqual({ ...stored, ...newer })
  })
})

test('what a copy of an issuer clears is left to its preset, not sent as the first one had it', () => {
  const draft = issuerDrafts.draftOf(FORMS.find(({ name }) => name === 'issuer')!.stored as never)
  const cleared = { audiences: '', replay: '', max_token_age_seconds: ' ' } as const
  const sent: unknown = JSON.parse(JSON.stringify(issuerDrafts.inputOf({ ...draft, ...cleared })))

  expect(sent).toMatchObject({ issuer: 'https://login.example.com', require_jti: true })
  for (const name of Object.keys(cleared)) expect(sent).not.toHaveProperty(name)
})

test('the form of webhooks offers every event of the contract, with a text', () => {
  expect(Object.keys(settings.webhooks.eventTexts)).toEqual(WebhookEvent.options)
})

test('the error of a condition is shown beside those of the other members', async () => {
  const asked: object[] = []
  const shape = { path: 'actions', message: 'must have at least one pattern' }
  const syntax = { path: 'condition', message: 'line 1', position: { line: 1, column: 2 } }
  const input = { effect: 'deny', actions: [], condition: '1 >> 2' }
  const { errors } = await withCondition(input, (body) => {
    asked.push(body)
    return Promise.resolve({
      valid: false,
      errors: [asked.length === 1 ? shape : syntax],
      warnings: [],
    })
  })

  expect(errors).toEqual([shape, syntax])
  expect(asked).toEqual([input, { effect: 'deny', condition: '1 >> 2' }])
})

// `pnpm types` fails where a line below is accepted.
test('a form that forgets a new optional member of what it replaces does not compile', () => {
  const grown = SpendLimitInput.safeExtend({ weekly_usd: SpendLimitInput.shape.daily_usd })
  type Tomorrow = Omit<Contract['setSpendLimit'], 'body'> & { readonly body: typeof grown }
  // @ts-expect-error The body lacks a member of the schema.
  const body: WholeBody<Tomorrow> = limitDrafts.inputOf(limitDrafts.empty)
  expect(body).not.toHaveProperty('weekly_usd')
  expect(grown.safeParse({ ...body, daily_usd: 5 }).success).toBe(true)

  expectTypeOf<
    Parameters<WholeClient['setSpendLimit']>[0]['body']
  >().toEqualTypeOf<SpendLimitInput>()
  expectTypeOf<
    Parameters<WholeClient['setLoginProvider']>[0]['body']
  >().toEqualTypeOf<LoginProviderInput>()
  expectTypeOf<{ params: { id: string }; body: { actions: string[] } }>().not.toExtend<
    Parameters<WholeClient['setApprovalRule']>[0]
  >()
  expectTypeOf<{ params: { policyID: string }; body: Pick<PolicyInput, 'effect'> }>().not.toExtend<
    Parameters<WholeClient['replacePolicy']>[0]
  >()
})
