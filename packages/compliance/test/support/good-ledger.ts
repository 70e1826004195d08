import type { EntryInput } from './by-hand.ts'
import {
  ADA,
  APP,
  key,
  agent,
  approval,
  approvalRule,
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

const everyDay = (
  from: number,
  to: number,
  step: number,
  entry: (at: number) => EntryInput,
): EntryInput[] =>
  Array.from({ length: Math.ceil((to - from) / step) }, (_, i) => entry(from + i * step))

const guardCheck = (at: string, more: object = {}): EntryInput => ({
  at,
  kind: 'guard.checked',
  actor: APP,
  agent_id: 'payer',
  data: { action: 'block', flagged: true, score: 0.9, ...more },
})

/** The ledger of an organization that uses every feature correctly. */
export const goodLedger = (): EntryInput[] => [
  ...founding(),
  ...rules(),
  ...use(),
  ...identity(),
  ...checks(),
]

function founding(): EntryInput[] {
  return [
    { at: '2025-06-01', kind: 'ledger.genesis', data: { org_id: 'org_acme' } },
    organization('organization.created', '2025-06-01'),
    key('key_ada', 'admin', 'ada@example.org'),
    key('key_bo', 'approver', 'bo@example.org'),
    key('key_app', 'ingest', null),
    ...everyDay(-30, 90, 1, (at) => ({ at: day(at, 0.5), kind: 'ledger.heartbeat', data: {} })),
    ...everyDay(-20, 90, 15, (at) => ({
      at: day(at, 1),
      kind: 'ledger.verified',
      data: { valid: true, status: 'ok' },
    })),
  ]
}

function rules(): EntryInput[] {
  return [
    agent('2025-06-02', 'payer'),
    change('2025-06-02', 'policy.dry_run', { requests: 1 }),
    policy('2025-06-02T00:10:00', 'pol_allow'),
    change(day(10), 'policy.dry_run', { requests: 1 }),
    policy(day(10, 1), 'pol_deny', { effect: 'deny', actions: ['payments.abroad'] }),
    approvalRule('2025-06-02T00:20:00', 'large'),
    {
      ...change('2025-06-02T00:30:00', 'spend_limit.set', {
        spend_limit: { agent_id: 'payer', daily_usd: 100, monthly_usd: 1000 },
      }),
      agent_id: 'payer',
    },
    {
      ...change('2025-06-02T00:40:00', 'permission.granted', {
        permission: {
          id: 'pay',
          effect: 'allow',
          agent_id: 'payer',
          actions: ['payments.*'],
          resources: ['*'],
        },
      }),
      agent_id: 'payer',
    },
  ]
}

function use(): EntryInput[] {
  return [
    decision('2025-06-03'),
    ...everyDay(0, 90, 1, (at) =>
      decision(day(at, 2), { data: { spend: spendOf(10), hold: { usd: 10, expires_at: null } } }),
    ),
    decision(day(5, 3), {
      decision: 'deny',
      reason: 'spend_unavailable',
      data: { matched: [{ kind: 'spend_limit', id: 'payer' }], spend: null, hold: null },
    }),
    ...Array.from({ length: 30 }, (_, i) =>
      approval(20 + i, `apr_${i}`, { vote: i % 10 === 0 ? 'reject' : 'approve' }),
    ).flat(),
    {
      ...agent(day(15), 'payer', { status: 'suspended' }),
      kind: 'agent.suspended',
    },
    decision(day(15, 1), {
      decision: 'deny',
      reason: 'agent_suspended',
      data: { matched: [{ kind: 'agent', id: 'payer' }] },
    }),
    { ...agent(day(15, 1.5), 'payer'), kind: 'agent.resumed' },
    // The guard flagged a text of the session before.
    withSession(decision(day(14), { decision: 'deny', reason: 'default_deny' }), 'chat 11'),
    // The last inventory of a host counts.
    inventory(day(9), 'laptop', { governed: 1 }),
    inventory(day(12), 'laptop'),
  ]
}

function identity(): EntryInput[] {
  return [
    credential(day(60), 'cred_1'),
    agent(day(1), 'old'),
    credential(day(2), 'cred_old', { agent_id: 'old' }),
    {
      at: day(40),
      kind: 'agent.removed',
      actor: ADA,
      agent_id: 'old',
      data: { agent_id: 'old', agent: { agent_id: 'old' }, revoked_credentials: ['cred_old'] },
    },
    change(day(3), 'trust_policy.created', {
      policy: {
        id: 'tru_1',
        effect: 'allow',
        source_agents: ['payer'],
        target_agents: ['*'],
        enabled: true,
      },
    }),
    {
      at: day(4),
      kind: 'trust.evaluated',
      actor: APP,
      agent_id: 'payer',
      action: 'order',
      decision: 'allow',
      reason: 'policy',
      data: { source_agent_id: 'payer', target_agent_id: 'shop', policy_id: 'tru_1' },
    },
    change(day(5), 'issuer.trusted', {
      issuer: { id: 'idp_1', issuer: 'https://issuer.example', enabled: true, expires_at: null },
    }),
    ...everyDay(7, 11, 1, (at) => exchange(day(at), 'idp_1')),
    exchange(day(6), 'idp_1'),
    credential(day(6), 'cred_x', {
      source: 'exchange',
      idp_id: 'idp_1',
      expires_at: day(6, 0.25),
    }),
  ]
}

function checks(): EntryInput[] {
  return [
    guardCheck(day(7), { session_id: 'chat 1' }),
    ...everyDay(8, 13, 1, (at) => guardCheck(day(at), { session_id: `chat ${at}` })),
    {
      at: day(13),
      kind: 'guard.counted',
      data: { action: 'allow', checks: 40, agents: [{ agent_id: 'payer', checks: 40 }] },
    },
    ...everyDay(-20, 90, 15, (at) => scorerRun(day(at, 4), 5)),
    {
      at: day(30),
      kind: 'report.generated',
      actor: ADA,
      data: { report_id: 'rpt_1', framework: 'soc2' },
    },
  ]
}
