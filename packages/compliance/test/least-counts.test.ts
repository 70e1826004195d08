import { describe, expect, test } from 'vitest'
import { CHECKS } from '../src/catalogue/catalogue.ts'
import { ADMINISTRATIVE } from '../src/facts/changes.ts'
import { basisOf } from '../src/report/status.ts'
import { GOOD_CHAIN, GOOD_REPORT } from './support/bad-facts.ts'
import type { EntryInput } from './support/by-hand.ts'
import { ms, SYSTEM } from './support/by-hand.ts'
import {
  agent,
  approval,
  BO,
  change,
  credential,
  day,
  decision,
  exchange,
  inventory,
  policy,
  scorerRun,
} from './support/entries.ts'
import { check, factsOf } from './support/facts.ts'
import { goodLedger } from './support/good-ledger.ts'

const SHARED = { type: 'key', id: BO.id, named: false }
const cancelled = approval(70, 'apr_cancelled', { vote: null })
const flagged = { action: 'block', flagged: true }

/** Entries that a careless meter would count. */
const NOISE: EntryInput[] = [
  ...approval(60, 'apr_shared', { by: SHARED }),
  ...approval(-40, 'apr_before', { isUsed: false }),
  ...cancelled,
  {
    ...cancelled[1]!,
    at: day(70, 1),
    kind: 'approval.cancelled',
    data: {
      approval: { ...(cancelled[1]!.data as { approval: object }).approval, status: 'cancelled' },
    },
  },
  decision(day(61), { data: { hold: { usd: 5, expires_at: null } } }),
  decision(day(61), { agent_id: 'poor', data: { hold: { usd: 5, expires_at: null } } }),
  { ...decision(day(62)), erased: true },
  change(day(63), 'guard.checked', flagged),
  change(day(64), 'entry.appended', {}),
  change(day(64), 'enforcement.gap', {}),
  change(day(65), 'ledger.verified', { valid: false }, SYSTEM),
  { ...scorerRun(day(66), 0), data: { scorer: 'exact_match', count: 3, scored: 0 } },
  inventory(day(67), 'laptop'),
  policy('2025-07-01', 'early'),
  agent(day(68), 'idle'),
  exchange('2025-07-01', 'idp_1'),
  credential('2025-07-01', 'cred_ended', { expires_at: '2025-08-01T00:00:00.000Z' }),
  ...['2025-10-01', '2025-11-01'].map((at) => scorerRun(at, 1)),
]
const SAID = [...goodLedger(), ...NOISE]
const PERIOD = SAID.filter(({ at }) => ms(at) >= ms('2026-01-01') && ms(at) < ms('2026-04-01'))

type Counts = (one: EntryInput, data: Record<string, unknown>) => boolean
const count = (matches: Counts, among = PERIOD): number =>
  among.filter((one) => one.erased !== true && matches(one, one.data ?? {})).length
const ofKind =
  (...kinds: readonly string[]): Counts =>
  ({ kind }) =>
    kinds.includes(kind)

const isAllow: Counts = ({ kind, decision: result }) =>
  kind === 'authorization.decided' && result === 'allow'
const isVote = ofKind('approval.voted', 'approval.decided')
const isNamedVote: Counts = (one, { vote }) =>
  isVote(one, {}) && (vote as { approver: { named: boolean } }).approver.named
const isApproval: Counts = (_, { vote }) => (vote as { decision: string }).decision === 'approve'
const isExchanged: Counts = (_, data) =>
  (data['credential'] as { source?: string } | undefined)?.source === 'exchange'
const isChange: Counts = (one, data) =>
  new Set<string>(ADMINISTRATIVE).has(one.kind) && !isExchanged(one, data)
const hasAmount: Counts = (_, { hold }) => ((hold as { usd?: number } | null)?.usd ?? 0) > 0
const isFlag: Counts = (_, data) => data['flagged'] === true

const MEANT: Readonly<Record<string, number>> = {
  'decisions, votes and changes': count(
    (one, data) => one.kind === 'authorization.decided' || isVote(one, data) || isChange(one, data),
  ),
  'kept decisions': SAID.filter(
    ({ at, kind, erased }) =>
      kind === 'authorization.decided' && !erased && ms(at) < ms('2026-04-01'),
  ).length,
  periods: 1,
  verifications: count((_, data) => data['valid'] === true),
  checkpoints: GOOD_CHAIN.checkpoints,
  decisions: count(ofKind('authorization.decided')),
  allows: count(isAllow),
  'allows and enforcement gaps': count(isAllow) + count(ofKind('enforcement.gap')),
  'allows with an amount': count((one, data) => isAllow(one, data) && hasAmount(one, data)),
  'allows held against a cap': count(
    (one, data) => isAllow(one, data) && hasAmount(one, data) && one.agent_id === 'payer',
  ),
  'decisions without spend data': count(({ reason }) => reason === 'spend_unavailable'),
  'days with decisions': new Set(
    PERIOD.filter(({ kind }) => kind === 'authorization.decided').map(({ at }) => at.slice(0, 10)),
  ).size,
  // The removed agent requested nothing.
  'stops that met a request': count(ofKind('agent.suspended')),
  entries: PERIOD.length,
  'agent hosts': 1,
  'requests for approval': count(ofKind('approval.requested')),
  'requests decided, pending or expired': count(ofKind('approval.decided')),
  'votes of named people': count(isNamedVote),
  'approvals of named people': count(
    (one, data) => isNamedVote(one, data) && isApproval(one, data),
  ),
  'actions released by a named person': count(
    (one, data) => isNamedVote(one, data) && isApproval(one, data),
  ),
  // payer and idle; old is removed.
  agents: 2,
  'live credentials': 1,
  'removed agents': count(ofKind('agent.removed')),
  'issued credentials': count(ofKind('credential.issued')),
  grants: 1,
  changes: count(isChange),
  'new policies': count(ofKind('policy.created')),
  'trust rules': 1,
  exchanges: count(ofKind('token.exchanged')),
  // One entry counts 40.
  'checks of the guard': count(ofKind('guard.checked')) + 40,
  'flagged checks that name a session or request': count(
    (one, data) => isFlag(one, data) && data['session_id'] !== undefined,
  ),
  'runs of scorers': count((_, { scored }) => Number(scored ?? 0) > 0),
  'scored items': 100 * count((_, { scored }) => scored === 100),
  reports: 1,
}

describe('the minimum of a check counts what it names', () => {
  const facts = factsOf(SAID, { chain: GOOD_CHAIN, reports: [GOOD_REPORT] })

  test.each([...CHECKS.values()])('$id: $least.of', ({ id, least }) => {
    expect(basisOf(check(facts, id)!)).toBe(MEANT[least.of])
  })
})
