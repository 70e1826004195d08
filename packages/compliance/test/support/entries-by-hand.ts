import { fullTime } from './by-hand.ts'
import type { EntryInput } from './by-hand.ts'

const ADA = { type: 'key', id: 'key_ada' } as const
export const BO = { type: 'key', id: 'key_bo' } as const
const APP = { type: 'key', id: 'key_app' } as const

type Data = NonNullable<EntryInput['data']>
export type Match = readonly [kind: string, id: string]

export const key = (id: string, role: string, person: string | null): EntryInput => ({
  at: '2025-12-01',
  kind: 'key.created',
  data: { key: { id, role, person } },
})

export const change = (
  at: string,
  kind: string,
  data: Data,
  actor: EntryInput['actor'] = ADA,
): EntryInput => ({
  at,
  kind,
  actor,
  data,
})

export const agentEntry = (
  at: string,
  kind: string,
  id: string,
  status: string,
  owner: string,
): EntryInput => ({
  ...change(at, kind, {
    agent_id: id,
    agent: { agent_id: id, status, owners: [{ type: 'user', id: owner }] },
  }),
  agent_id: id,
})

export const policy = (at: string, id: string, effect: string): EntryInput =>
  change(at, 'policy.created', {
    policy: { id, effect, enabled: true, not_before: null, expires_at: null },
  })

export const rule = (at: string, kind: string, actor = ADA as EntryInput['actor']): EntryInput =>
  change(at, kind, { approval_rule: { id: 'large', enabled: true } }, actor)

/** A decision with its request, result, matches and further data. */
export const decided = (
  at: string,
  [agent_id, action]: readonly [string, string],
  [decision, reason]: readonly [string, string],
  matched: readonly Match[],
  more: Data = {},
): EntryInput => ({
  at,
  kind: 'authorization.decided',
  actor: APP,
  agent_id,
  action,
  decision,
  reason,
  data: {
    config_version: 3,
    context: {},
    decision_id: `dec_${at}`,
    matched: matched.map(([kind, id]) => ({ kind, id })),
    plan: 'enterprise',
    ...more,
  },
})

/** An amount in USD, against caps of 100 a day and 150 a month of which so much was used. */
export const spend = (usd: number | null, day = 0, month = day): Data => ({
  ...(usd !== null && { hold: { usd, expires_at: null } }),
  spend: {
    amount_usd: usd,
    daily: { limit_usd: 100, spent_usd: day },
    monthly: { limit_usd: 150, spent_usd: month },
  },
})

interface Request {
  readonly id: string
  readonly agent: string
  readonly at: string
  readonly expires: string
}

export const approvalOf = ({ id, agent, at, expires }: Request, more: Data = {}): Data => ({
  approval: {
    id,
    status: 'pending',
    agent_id: agent,
    action: 'payments.large',
    requirements: [{ rule_id: 'large' }],
    votes: [],
    requested_by: { type: 'key', id: APP.id, person: null },
    acting_for: null,
    requested_at: fullTime(at),
    expires_at: fullTime(expires),
    decided_at: null,
    usable_until: null,
    ...more,
  },
})

export const approvalEntry = (
  kind: string,
  at: string,
  request: Request,
  data: Data,
): EntryInput => ({
  at,
  kind: `approval.${kind}`,
  actor: kind === 'decided' ? BO : APP,
  agent_id: request.agent,
  action: 'payments.large',
  data,
})

/** The decision that opens a request, and the request. */
export const asked = (
  request: Request,
  matched: readonly Match[] = [['approval_rule', 'large']],
): EntryInput[] => [
  decided(
    request.at,
    [request.agent, 'payments.large'],
    ['needs_approval', 'approval_required'],
    matched,
    { context: { to: request.id }, approval: { id: request.id, status: 'pending' } },
  ),
  approvalEntry(
    'requested',
    request.at,
    request,
    approvalOf(request, { context: { to: request.id }, binding_context: null, resource: null }),
  ),
]

/** Bo's vote, which decides. */
export const voted = (at: string, request: Request, decision: 'approve' | 'reject'): EntryInput => {
  const vote = {
    approver: { type: 'person', id: 'bo@example.org', named: true },
    key_id: BO.id,
    decision,
    at: fullTime(at),
  }
  const approved = decision === 'approve'
  const more = {
    status: approved ? 'approved' : 'rejected',
    votes: [vote],
    decided_at: fullTime(at),
    usable_until: approved ? '2026-01-31T00:00:00.000Z' : null,
  }
  return approvalEntry('decided', at, request, { ...approvalOf(request, more), vote })
}

export const request = (id: string, agent: string, at: string, expires: string): Request => ({
  id,
  agent,
  at,
  expires,
})
