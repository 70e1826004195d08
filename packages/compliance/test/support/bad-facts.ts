import { VALID_CHAIN } from '../../src/facts/external-facts.ts'
import type { ChainFacts, RecordedReport } from '../../src/facts/index.ts'
import { ms, SYSTEM } from './by-hand.ts'
import type { EntryInput } from './by-hand.ts'
import {
  ADA,
  agent,
  approval,
  approvalRule,
  BO,
  change,
  credential,
  day,
  decision,
  exchange,
  inventory,
  organization,
  policy,
  scorerRun,
  spendOf,
  withSession,
} from './entries.ts'

/** The input of a report. */
export interface Given {
  readonly said: readonly EntryInput[]
  readonly chain: ChainFacts
  readonly report: RecordedReport
}

/** The verification of the good ledger. */
export const GOOD_CHAIN: ChainFacts = { ...VALID_CHAIN, checkpoints: 3 }
export const GOOD_REPORT: RecordedReport = {
  seq: 170,
  time: ms(day(30)),
  reportId: 'rpt_1',
  intact: true,
}

type Change = (given: Given) => Given

const plus =
  (...more: readonly EntryInput[]): Change =>
  (given) => ({ ...given, said: [...given.said, ...more] })

const without =
  (isGone: (said: EntryInput) => boolean): Change =>
  (given) => ({ ...given, said: given.said.filter((one) => !isGone(one)) })

const inside =
  (from: number, to: number, kind?: string) =>
  ({ at, kind: found }: EntryInput): boolean =>
    ms(at) >= ms(day(from)) && ms(at) < ms(day(to)) && (kind === undefined || kind === found)

const chain =
  (found: Partial<ChainFacts>): Change =>
  (given) => ({ ...given, chain: { ...given.chain, ...found } })

const laterKind = ({ kind }: EntryInput): string =>
  kind === 'organization.created' ? 'organization.updated' : kind

/** A bad fact for every check: what it changes of a ledger in which nothing is bad. */
export const BAD_FACTS: Readonly<Record<string, Change>> = {
  'LED-1': chain({ firstBadSeq: 50 }),
  'LED-2': chain({ gaps: 1 }),
  'LED-3': without(inside(71, 73)),
  'LED-4': plus({
    ...organization('organization.updated', day(3), { retention_days: 100 }),
    actor: ADA,
  }),
  'LED-5': ({ said, ...rest }) => ({
    ...rest,
    // The record begins in the period, with an organization that is older.
    said: said.map((one) =>
      ms(one.at) < ms(day(1))
        ? {
            ...one,
            at: day(1),
            kind: laterKind(one),
            data: { ...one.data, person: 'ada@example.org' },
          }
        : one,
    ),
  }),
  'LED-6': without(inside(5, 60, 'ledger.verified')),
  'LED-7': chain({ mismatches: [{ seq: 40, keptBy: 'rpt_0' }] }),

  'LED-8': plus({ ...change(day(11), 'guard.checked', {}), erased: true }),

  'DEC-1': plus(
    decision(day(11), { agent_id: 'stranger', decision: 'deny', reason: 'default_deny' }),
  ),
  'DEC-2': plus(
    decision(day(11), { decision: 'deny', reason: 'policy_deny', data: { config_version: null } }),
  ),
  'DEC-3': plus(decision(day(15, 0.5))),
  'DEC-4': plus(
    ...Array.from({ length: 20 }, (_, i) =>
      decision(day(12, i / 10), { reason: 'default_allow', data: { matched: [] } }),
    ),
  ),
  'DEC-5': plus(decision(day(11), { data: { spend: null, hold: null } })),
  'DEC-6': plus(change(day(11), 'enforcement.gap', { decision_id: null })),
  'DEC-7': plus(inventory(day(11), 'server', { governed: 2 })),

  'APR-1': plus(decision(day(11), { action: 'data.export' })),
  'APR-2': plus(
    decision(day(21, 3), {
      action: 'payments.large',
      reason: 'approved',
      data: { approval: { id: 'apr_1', status: 'consumed' } },
    }),
  ),
  'APR-3': plus(
    ...approval(16, 'apr_key', { vote: 'reject', by: { type: 'key', id: BO.id, named: false } }),
  ),
  'APR-4': plus(...approval(85, 'apr_late', { vote: null, expiresAfterDays: 30 })),
  'APR-5': plus(
    ...Array.from({ length: 10 }, (_, i) =>
      approval(60 + i, `apr_rapid_${i}`, { after: 2 }),
    ).flat(),
  ),
  'APR-6': plus(
    change(day(80), 'approval_rule.removed', { approval_rule: { id: 'large' } }),
    approvalRule(day(82), 'large'),
  ),
  'APR-7': plus(
    ...Array.from({ length: 61 }, (_, i) =>
      approval(60, `apr_many_${i}`, { after: 600 + i, isUsed: false }),
    ).flat(),
  ),

  'ACC-1': plus({
    ...agent(day(20), 'payer', { owners: [{ type: 'team', id: 'finance' }] }),
    kind: 'agent.updated',
  }),
  'ACC-2': plus(credential('2025-12-01', 'cred_aged')),
  'ACC-3': plus(credential(day(61), 'cred_bare', { scopes: [] })),
  'ACC-4': ({ said, ...rest }) => ({
    ...rest,
    said: said.map((one) =>
      one.kind === 'agent.removed' ? { ...one, data: { agent_id: 'old' } } : one,
    ),
  }),
  'ACC-5': plus(credential(day(61), 'cred_early', { agent_id: 'ghost', expires_at: day(62) })),
  'ACC-6': plus(
    change(day(61), 'permission.granted', {
      permission: { id: 'all', effect: 'allow', agent_id: 'payer', actions: ['*'] },
    }),
  ),
  'ACC-7': plus(
    agent('2025-07-01', 'idle'),
    credential(day(62), 'cred_idle', { agent_id: 'idle' }),
  ),

  'CHG-1': plus({ ...agent(day(20), 'payer'), kind: 'agent.updated', actor: SYSTEM }),
  'CHG-2': plus(policy(day(50), 'pol_sudden')),
  'CHG-3': plus({ ...approvalRule(day(20, 20), 'large'), actor: BO }),
  'CHG-4': plus(
    {
      ...organization('organization.updated', day(79), { default_effect: 'allow' }),
      actor: ADA,
    },
    change(day(80), 'policy.deleted', { policy: { id: 'pol_deny' } }),
    change(day(80), 'approval_rule.removed', { approval_rule: { id: 'large' } }),
    approvalRule(day(82), 'large'),
  ),

  'SPD-1': plus(
    agent(day(60), 'buyer'),
    decision(day(61), { agent_id: 'buyer', data: { spend: null, hold: { usd: 5 } } }),
  ),
  'SPD-2': plus(decision(day(61), { data: { spend: spendOf(50, 80), hold: { usd: 50 } } })),

  'TRU-1': plus(
    change(day(20), 'trust_policy.created', {
      policy: { id: 'tru_all', effect: 'allow', source_agents: ['*'], target_agents: ['*'] },
    }),
  ),
  'TRU-2': plus(exchange(day(20), 'idp_stranger')),

  'GRD-1': plus(
    agent(day(60), 'buyer'),
    agent(day(60), 'seller'),
    ...['buyer', 'seller'].map((agent_id) =>
      decision(day(61), { agent_id, decision: 'deny', reason: 'policy_deny' }),
    ),
  ),
  'GRD-2': plus(withSession(decision(day(61)), 'chat 1')),

  'SCR-1': without(inside(0, 60, 'scorer.ran')),
  'SCR-2': plus(scorerRun(day(12), 90)),

  'REP-1': (given) => ({ ...given, report: { ...given.report, intact: false } }),
}

/** Checks that cannot fail alone, with what fails beside them. */
export const ALONG: Readonly<Record<string, readonly string[]>> = {
  // Without a restricting rule there is no approval rule either.
  'CHG-4': ['APR-6'],
}
