import { fullTime } from './by-hand.ts'
import type { EntryInput } from './by-hand.ts'
import {
  agentEntry,
  approvalEntry,
  approvalOf,
  asked,
  BO,
  change,
  decided,
  key,
  policy,
  request,
  rule,
  spend,
  voted,
} from './entries-by-hand.ts'
import type { Match } from './entries-by-hand.ts'

const FREE = spend(null)
const ALLOW: Match = ['policy', 'pol_allow']
const LARGE: Match = ['approval_rule', 'large']
const PAY = ['payer', 'payments.transfer'] as const
const BUY = ['buyer', 'payments.transfer'] as const

const APR_1 = request('apr_1', 'payer', '2026-01-06T08', '2026-01-07T08')
const APR_2 = request('apr_2', 'buyer', '2026-01-07T08', '2026-01-08T08')
const APR_3 = request('apr_3', 'payer', '2026-01-08T00', '2026-01-09T00')
const APR_4 = request('apr_4', 'payer', '2026-01-10T08', '2026-01-12T08')
const APR_5 = request('apr_5', 'payer', '2026-03-25T00', '2026-04-20T00')

const denyOfBuyer = { id: 'no_buying', effect: 'deny', agent_id: 'buyer', condition: null }
const DENY = { permission: { ...denyOfBuyer, actions: ['payments.*'], resources: ['*'] } }

/** The numbers are the sequence numbers; the period is January to March 2026. */
export const HAND_MADE: readonly EntryInput[] = [
  /*  0 */ {
    at: '2025-12-01',
    kind: 'organization.created',
    data: { organization: { id: 'org_acme', name: 'Acme', plan: 'enterprise' } },
  },
  /*  1 */ key('key_ada', 'admin', 'ada@example.org'),
  /*  2 */ key('key_bo', 'approver', 'bo@example.org'),
  /*  3 */ key('key_app', 'ingest', null),
  /*  4 */ agentEntry('2025-12-01', 'agent.registered', 'payer', 'active', 'ada@example.org'),
  /*  5 */ agentEntry('2025-12-01', 'agent.registered', 'buyer', 'active', 'Bo@Example.org'),
  /*  6 */ rule('2025-12-01', 'approval_rule.set'),
  /*  7 */ policy('2025-12-02', 'pol_allow', 'allow'),
  /*  8 */ {
    ...change('2025-12-20', 'spend_limit.set', {
      spend_limit: { agent_id: 'payer', daily_usd: 100, monthly_usd: 150 },
    }),
    agent_id: 'payer',
  },
  /*  9 */ decided('2025-12-31T20', PAY, ['allow', 'policy_allow'], [ALLOW], spend(99)),
  /* 10 */ change('2025-12-31T23', 'policy.dry_run', {}),

  /* 11 */ policy('2026-01-01T10', 'pol_deny', 'deny'),
  // 40, and 70 more than fit the day, and 50 more than fit the month.
  /* 12 */ decided('2026-01-02T09', PAY, ['allow', 'policy_allow'], [ALLOW], spend(40)),
  /* 13 */ decided('2026-01-02T10', PAY, ['allow', 'policy_allow'], [ALLOW], spend(70, 40)),
  /* 14 */ decided('2026-01-02T11', PAY, ['allow', 'policy_allow'], [ALLOW], spend(50, 110)),
  /* 15 */ decided(
    '2026-01-02T12',
    PAY,
    ['deny', 'spend_limit_daily'],
    [['spend_limit', 'payer']],
    spend(1, 160),
  ),
  /* 16 */ decided('2026-01-03T00', BUY, ['allow', 'policy_allow'], [ALLOW], {
    hold: { usd: 5, expires_at: null },
  }),
  /* 17 */ decided('2026-01-03T01', ['ghost', 'mail.send'], ['allow', 'default_allow'], []),
  /* 18 */ decided('2026-01-03T02', ['ghost', 'mail.send'], ['deny', 'default_deny'], []),
  /* 19 */ decided('2026-01-04T00', PAY, ['deny', 'policy_deny'], [['policy', 'pol_deny']], {
    config_version: null,
  }),
  /* 20 */ policy('2026-01-05T00', 'pol_sudden', 'allow'),

  // Approved by Bo after 3 seconds, and used.
  /* 21, 22 */ ...asked(APR_1, [['policy', 'pol_sudden'], LARGE]),
  /* 23 */ voted('2026-01-06T08:00:03', APR_1, 'approve'),
  /* 24 */ decided('2026-01-06T09', ['payer', 'payments.large'], ['allow', 'approved'], [LARGE], {
    ...FREE,
    approval: { id: 'apr_1', status: 'consumed' },
  }),
  /* 25 */ approvalEntry(
    'consumed',
    '2026-01-06T09',
    APR_1,
    approvalOf(APR_1, {
      status: 'consumed',
      decided_at: fullTime('2026-01-06T08:00:03'),
      usable_until: '2026-01-31T00:00:00.000Z',
    }),
  ),
  // Rejected by Bo after 2 hours, who owns the agent.
  /* 26, 27 */ ...asked(APR_2),
  /* 28 */ voted('2026-01-07T10', APR_2, 'reject'),
  // Nobody decides.
  /* 29, 30 */ ...asked(APR_3),
  /* 31 */ approvalEntry(
    'expired',
    '2026-01-09T00:05',
    APR_3,
    approvalOf(APR_3, { status: 'expired' }),
  ),
  // Approved by Bo after 26 hours, 14 hours after he has changed the rule.
  /* 32, 33 */ ...asked(APR_4),
  /* 34 */ rule('2026-01-10T20', 'approval_rule.set', BO),
  /* 35 */ voted('2026-01-11T10', APR_4, 'approve'),
  // An approval that there is not.
  /* 36 */ decided('2026-01-12T00', ['payer', 'payments.large'], ['allow', 'approved'], [LARGE], {
    ...FREE,
    approval: { id: 'apr_9', status: 'consumed' },
  }),

  /* 37 */ {
    at: '2026-01-12T01',
    kind: 'organization.updated',
    data: {
      organization: {
        id: 'org_acme',
        name: 'Acme',
        plan: 'enterprise',
        settings: { consequential_actions: ['data.*'] },
      },
    },
  },
  /* 38 */ decided(
    '2026-01-13T00',
    ['payer', 'data.export'],
    ['allow', 'policy_allow'],
    [ALLOW],
    FREE,
  ),
  /* 39 */ agentEntry('2026-01-14T00', 'agent.suspended', 'payer', 'suspended', 'ada@example.org'),
  /* 40 */ decided('2026-01-14T00:00:30', PAY, ['deny', 'agent_suspended'], [['agent', 'payer']]),
  /* 41 */ decided('2026-01-14T01', PAY, ['allow', 'policy_allow'], [ALLOW], FREE),
  /* 42 */ agentEntry('2026-01-14T02', 'agent.resumed', 'payer', 'active', 'ada@example.org'),
  /* 43 */ {
    at: '2026-01-15T00',
    kind: 'permission.granted',
    agent_id: 'buyer',
    data: DENY,
  },
  /* 44 */ decided('2026-01-15T01', BUY, ['allow', 'policy_allow'], [ALLOW]),
  /* 45 */ change('2026-01-16T00', 'permission.revoked', { ...DENY, revoked: ['no_buying'] }),
  /* 46 */ rule('2026-01-17T00', 'approval_rule.removed'),
  // The action of apr_3, which was not approved.
  /* 47 */ decided(
    '2026-01-18T00',
    ['payer', 'payments.large'],
    ['allow', 'policy_allow'],
    [ALLOW],
    { ...FREE, context: { to: 'apr_3', approval: { id: 'any' } } },
  ),
  /* 48 */ change('2026-01-19T00', 'policy.deleted', { policy: { id: 'pol_deny' } }),
  /* 49 */ decided('2026-01-20T00', PAY, ['allow', 'policy_allow'], [ALLOW], FREE),
  /* 50 */ decided('2026-01-21T00', PAY, ['deny', 'spend_unavailable'], [['spend_limit', 'payer']]),
  /* 51 */ decided('2026-01-21T01', PAY, ['allow', 'policy_allow'], [ALLOW]),
  // Waits for a week when the period ends.
  /* 52, 53 */ ...asked(APR_5),
  /* 54 */ { ...decided('2026-03-26', PAY, ['allow', 'policy_allow'], []), erased: true },
  /* 55 */ decided('2026-04-01', PAY, ['allow', 'policy_allow'], [ALLOW], spend(1e6)),
]
