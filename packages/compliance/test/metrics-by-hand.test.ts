import { describe, expect, it } from 'vitest'
import { check, factsOf, metric } from './support/facts.ts'
import { HAND_MADE } from './support/hand-made.ts'

const facts = factsOf(HAND_MADE)

const share = (numerator: number, denominator: number, text: string) => ({
  numerator,
  denominator,
  text,
})

/*
 * Decisions of the period, by sequence number:
 *
 *   allow           12 13 14 16 17 24 36 38 41 44 47 49 51    13
 *   deny            15 18 19 40 50                             5
 *   needs_approval  21 26 29 32 52                             5
 *   erased          54                                         1
 *
 * Days with decisions: 2 3 4 6 7 8 10 12 13 14 15 18 20 21 January, 25 and 26 March; the erased one of
 * the 26th was a decision, too. Votes: 23 (apr_1, after 3 s), 28 (apr_2, 2 h), 35 (apr_4, 26 h).
 */
const WORKED_OUT: readonly (readonly [string, unknown, number])[] = [
  [
    'M10',
    { allow: 13, deny: 5, needs_approval: 5, erased: 1, denied_share: share(5, 23, '0.2174') },
    24,
  ],
  [
    'M11',
    {
      agent_suspended: 1,
      default_deny: 1,
      policy_deny: 1,
      spend_limit_daily: 1,
      spend_unavailable: 1,
    },
    5,
  ],
  // 19 has no version of the configuration.
  ['M12', share(22, 23, '0.9565'), 23],
  // 17 and 18.
  ['M13', { callers: 1, decisions: 2, allows: 1 }, 23],
  // 17.
  ['M14', share(1, 13, '0.0769'), 13],
  // 51 and 50.
  ['M15', { allow: 1, deny: 1 }, 2],
  // Released by people: apr_1 and apr_4. Without: 36, 38 (on the list), 47 (asked as apr_3).
  ['M16', share(2, 5, '0.4000'), 5],
  ['M17', { median: '7200.000', p95: '93600.000', max: '93600.000' }, 3],
  ['M18', share(1, 3, '0.3333'), 3],
  // apr_5 waits for 7 days, apr_3 ran out; with the three decided ones they are five.
  ['M19', { pending: 1, oldest_seconds: '604800.000', overdue: 1, expired: 1 }, 5],
  ['M20', share(1, 2, '0.5000'), 2],
  ['M21', { max_per_hour: 1, approvers: 1, busiest_share: share(3, 3, '1.0000') }, 3],
  // 28: an owner of the agent.
  ['M22', { count: 1, requester: 0, owner: 1, former: 0, unnamed: 0, asserted: 0 }, 3],
  // 36; five requests and the one that was never made.
  ['M23', 1, 6],
  // 28, 39 and 45 by people, 43 by the operator.
  [
    'M24',
    {
      total: 3,
      denies: 0,
      suspensions: 1,
      removals: 0,
      permissions_revoked: 1,
      credentials_revoked: 0,
      refusals: 1,
      by_others: 1,
    },
    4,
  ],
  // 41 after 39, 44 after 43; the suspension showed after half a minute.
  [
    'M25',
    {
      allows_after_stop: 2,
      first_denial_seconds: { measured: 1, median: '30.000', max: '30.000' },
    },
    2,
  ],
  // 20: the preview was 25 hours before.
  ['M37', share(1, 2, '0.5000'), 2],
  // 35.
  ['M38', 1, 3],
  // pol_allow and pol_sudden are left.
  [
    'M39',
    {
      policies: 2,
      deny_rules: 0,
      approval_rules: 0,
      default_effect: 'allow',
      decisions_with_a_rule: share(24, 24, '1.0000'),
    },
    24,
  ],
  // payer, but not buyer.
  ['M40', share(1, 2, '0.5000'), 2],
  // 2 January (13 and 14) and January (14).
  ['M41', { agent_hours: 0, agent_days: 1, agent_months: 1 }, 1],
  ['M42', { denials: 1, agents: 1, by_agent: [{ id: 'payer', count: 1 }] }, 1],
]

describe('a ledger that is worked out by hand', () => {
  it.each(WORKED_OUT)('%s is %j over %i', (id, value, population) => {
    expect(metric(facts, id)).toEqual({ id, value, population })
  })

  /** Check, population, what its text is filled with, the entries. */
  it.each([
    ['DEC-1', 23, { n: 1, allows: 1 }, [17, 18]],
    ['DEC-2', 23, { n: 1 }, [19]],
    ['DEC-5', 2, { n: 1 }, [51]],
    ['APR-1', 5, { n: 3 }, [36, 38, 47]],
    ['APR-2', 6, { n: 1 }, [36]],
    ['APR-3', 3, { n: 1 }, [28]],
    // The request that ran out, the slow decision, and the request that waits.
    [
      'APR-4',
      5,
      { decided: '50% of 4 were decided within 24 hours', n: 1, expired: 1 },
      [31, 35, 53],
    ],
    ['APR-6', 16, { days: 5 }, [47, 49, 50, 51, 52, 54]],
    ['CHG-2', 2, { n: 1 }, [20]],
    ['CHG-3', 3, { n: 1 }, [35]],
    ['CHG-4', 16, { days: 4 }, [49, 50, 51, 52, 54]],
    ['SPD-1', 2, { n: 1 }, [16]],
    ['SPD-2', 1, { n: 2 }, [13, 14]],
  ])('%s fails over %i with %j because of %j', (id, population, params, seqs) => {
    expect(check(facts, id)).toMatchObject({
      population,
      ok: false,
      failures: [{ params, count: seqs.length, seqs }],
    })
  })

  it('DEC-3 fails once for every stop that did not hold', () => {
    expect(check(facts, 'DEC-3')).toMatchObject({
      population: 2,
      ok: false,
      failures: [
        { params: { agent_id: 'payer', n: 1, seq: 39 }, seqs: [41] },
        { params: { agent_id: 'buyer', n: 1, seq: 43 }, seqs: [44] },
      ],
    })
  })

  it('a share below the threshold passes, and too few approvals are no share', () => {
    expect(check(facts, 'DEC-4')).toMatchObject({ ok: true, population: 13 })
    expect(check(facts, 'APR-5')).toMatchObject({ ok: true, population: 2, failures: [] })
    expect(check(facts, 'APR-7')).toMatchObject({ ok: true, basis: 2, failures: [] })
  })
})
