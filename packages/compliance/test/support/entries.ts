import type { EntryInput } from './by-hand.ts'
import { SYSTEM } from './by-hand.ts'

/** The first day that the tests report on. */
const FROM = '2026-01-01'

export const ADA = { type: 'key', id: 'key_ada' } as const
export const BO = { type: 'key', id: 'key_bo' } as const
export const APP = { type: 'key', id: 'key_app' } as const

const DAY = 86_400_000

/** A time, in days and hours after the start of the period. */
export const day = (days: number, hours = 0): string =>
  new Date(Date.parse(`${FROM}T00:00:00.000Z`) + days * DAY + hours * 3_600_000).toISOString()

export const key = (id: string, role: string, person: string | null): EntryInput => ({
  at: '2025-06-01T00:00:01',
  kind: 'key.created',
  actor: SYSTEM,
  data: { key: { id, role, person, name: null } },
})

export const agent = (
  at: string,
  id: string,
  more: Partial<EntryInput['data']> = {},
): EntryInput => ({
  at,
  kind: 'agent.registered',
  actor: ADA,
  agent_id: id,
  data: {
    agent_id: id,
    agent: {
      agent_id: id,
      status: 'active',
      owners: [{ type: 'user', id: 'ada', email: 'ada@example.org' }],
      ...more,
    },
  },
})

export const credential = (
  at: string,
  id: string,
  more: Partial<EntryInput['data']> = {},
): EntryInput => ({
  at,
  kind: 'credential.issued',
  actor: ADA,
  agent_id: 'payer',
  data: {
    credential: {
      id,
      agent_id: 'payer',
      scopes: ['authorize'],
      source: 'issued',
      idp_id: null,
      created_at: at,
      expires_at: day(150),
      ...more,
    },
  },
})

let made = 0

/** A decision of the agent `payer`, with a rule that matched. */
export const decision = (at: string, said: Partial<EntryInput> = {}): EntryInput => ({
  at,
  kind: 'authorization.decided',
  actor: APP,
  agent_id: 'payer',
  action: 'payments.transfer',
  decision: 'allow',
  reason: 'policy_allow',
  ...said,
  data: {
    config_version: 7,
    context: {},
    decision_id: `dec_${++made}`,
    matched: [{ kind: 'policy', id: 'pol_allow' }],
    plan: 'enterprise',
    spend: spendOf(0),
    hold: { usd: 0, expires_at: null },
    ...said.data,
  },
})

/** The same decision in a session. */
export const withSession = (said: EntryInput, session_id: string): EntryInput => ({
  ...said,
  data: { ...said.data, context: { session_id } },
})

/** The recorded caps and usage of `payer`. */
export const spendOf = (amount: number, spent = 0): object => ({
  amount_usd: amount,
  daily: { limit_usd: 100, spent_usd: spent },
  monthly: { limit_usd: 1000, spent_usd: spent },
})

/** The entry of a person who has signed in. */
export const signedIn = (at: string, id: string, email: string): EntryInput => ({
  at,
  kind: 'person.signed_in',
  actor: { type: 'person', id },
  data: { member: { id, email, role: 'approver', status: 'active' } },
})

export const change = (
  at: string,
  kind: string,
  data: EntryInput['data'],
  actor: EntryInput['actor'] = ADA,
): EntryInput => ({ at, kind, actor, ...(data && { data }) })

export const policy = (at: string, id: string, more: object = {}): EntryInput =>
  change(at, 'policy.created', {
    policy: {
      id,
      effect: 'allow',
      enabled: true,
      agents: ['payer'],
      actions: ['payments.*'],
      ...more,
    },
  })

export const approvalRule = (at: string, id: string, more: object = {}): EntryInput =>
  change(at, 'approval_rule.set', {
    approval_rule: { id, enabled: true, actions: ['payments.large'], ...more },
  })

/** A request for approval that is opened, decided by somebody, and used where it was approved. */
export function approval(at: number, id: string, given: Partial<Case> = {}): EntryInput[] {
  const { vote, after, by, isUsed, expiresAfterDays }: Case = { ...CASE, ...given }
  const opened = decision(day(at), {
    action: 'payments.large',
    decision: 'needs_approval',
    reason: 'approval_required',
    data: {
      matched: [{ kind: 'approval_rule', id: 'large' }],
      approval: { id, status: 'pending' },
    },
  })
  const request = {
    id,
    status: 'pending',
    agent_id: 'payer',
    action: 'payments.large',
    binding_hash: `hash ${id}`,
    requirements: [{ rule_id: 'large', required: 1 }],
    votes: [] as object[],
    requested_by: { type: 'key', id: APP.id, person: null },
    acting_for: null,
    requested_at: opened.at,
    expires_at: day(at + expiresAfterDays),
    decided_at: null as string | null,
    usable_until: null as string | null,
    consumed_at: null,
    closed_at: null,
    decision_id: opened.data?.['decision_id'],
    consumed_by: null,
  }
  const entry = (kind: string, said: Partial<EntryInput>): EntryInput => ({
    at: day(at),
    kind,
    actor: APP,
    agent_id: 'payer',
    action: 'payments.large',
    ...said,
  })
  const begun = [opened, entry('approval.requested', { data: { approval: request } })]
  if (vote === null) return begun
  const decidedAt = day(at, after / 3600)
  const cast = {
    approver: by,
    role: 'approver',
    key_id: given.with ?? CASE.with,
    decision: vote,
    comment: null,
    at: decidedAt,
  }
  const status = vote === 'approve' ? 'approved' : 'rejected'
  const decided = {
    ...request,
    status,
    votes: [cast],
    decided_at: decidedAt,
    usable_until: day(at, 2 + after / 3600),
  }
  const entries = [
    ...begun,
    entry('approval.decided', {
      at: decidedAt,
      actor: BO,
      data: { approval: decided, vote: cast, person: 'bo@example.org' },
    }),
  ]
  if (vote !== 'approve' || !isUsed) return entries
  const allowedAt = day(at, 1 + after / 3600)
  const allowed = decision(allowedAt, {
    action: 'payments.large',
    reason: 'approved',
    data: {
      matched: [{ kind: 'approval_rule', id: 'large' }],
      approval: { id, status: 'consumed' },
    },
  })
  const consumed = { ...decided, status: 'consumed', closed_at: allowedAt }
  return [
    ...entries,
    allowed,
    entry('approval.consumed', { at: allowedAt, data: { approval: consumed } }),
  ]
}

interface Case {
  /** Null: no vote. */
  readonly vote: 'approve' | 'reject' | null
  /** Seconds until it is decided. */
  readonly after: number
  readonly by: {
    readonly type: string
    readonly id: string
    readonly email?: string
    readonly named: boolean
  }
  /** The voting key or session. */
  readonly with: string
  readonly isUsed: boolean
  readonly expiresAfterDays: number
}

const CASE: Case = {
  vote: 'approve',
  after: 600,
  by: { type: 'person', id: 'bo@example.org', named: true },
  with: BO.id,
  isUsed: true,
  expiresAfterDays: 1,
}

export const scorerRun = (at: string, failed: number): EntryInput => ({
  at,
  kind: 'scorer.ran',
  actor: APP,
  data: { scorer: 'exact_match', threshold: 1, count: 100, scored: 100, failed },
})

export const organization = (kind: string, at: string, settings: object = {}): EntryInput => ({
  at,
  kind,
  actor: SYSTEM,
  data: {
    organization: {
      id: 'org_acme',
      name: 'Acme',
      plan: 'enterprise',
      settings: {
        default_effect: 'deny',
        retention_days: 400,
        consequential_actions: ['data.export'],
        ...settings,
      },
      created_at: '2025-06-01T00:00:00.000Z',
    },
  },
})

export const exchange = (at: string, idpId: string): EntryInput => ({
  at,
  kind: 'token.exchanged',
  actor: { type: 'issuer', id: idpId },
  agent_id: 'payer',
  data: {
    idp_id: idpId,
    issuer: 'https://issuer.example',
    subject: 'workload',
    credential_id: 'cred_x',
    scopes: ['authorize'],
    expires_at: day(6, 0.25),
  },
})

/** A report of `remit discover`, with nothing ungoverned unless given. */
export const inventory = (at: string, host: string, more: object = {}): EntryInput =>
  change(at, 'inventory.reported', {
    inventory: { host, items: 3, governed: 3, ungoverned: [], unread: 0, ...more },
  })
