import { describe, expect, it } from 'vitest'
import { SYSTEM } from './support/by-hand.ts'
import type { EntryInput } from './support/by-hand.ts'
import { at, check, factsOf, metric, value } from './support/facts.ts'
import {
  change,
  credential,
  day,
  decision,
  exchange,
  inventory,
  organization,
} from './support/entries.ts'

describe('changes', () => {
  const ofExchange = credential('2026-01-05', 'cred_x', { source: 'exchange' })
  const said = [
    {
      ...change('2025-12-01', 'key.created', {
        key: { id: 'key_ada', role: 'admin', person: 'ada@example.org' },
      }),
      actor: SYSTEM,
    },
    change('2026-01-02', 'policy.created', { policy: { id: 'p', enabled: true } }),
    change('2026-01-03', 'policy.deleted', { policy: { id: 'p' } }, { type: 'key', id: 'key_all' }),
    change('2026-01-04', 'agent.suspended', { agent_id: 'stray', reason: 'x' }, SYSTEM),
    change(
      '2026-01-04',
      'spend_limit.set',
      { spend_limit: { agent_id: 'a' }, person: 'bo@example.org' },
      {
        type: 'key',
        id: 'key_bo',
      },
    ),
    { ...ofExchange, actor: { type: 'issuer', id: 'idp_1' } },
    change('2026-01-06', 'policy.dry_run', {}, { type: 'key', id: 'key_all' }),
    change('2026-01-06', 'issuer.fetch_failed', { idp_id: 'idp_1' }, SYSTEM),
  ]

  it('M35, M36: by kind and author; those without a person have none', () => {
    const facts = factsOf(said)
    expect(metric(facts, 'M35')?.value).toEqual({
      by_kind: {
        'policy.created': 1,
        'policy.deleted': 1,
        'agent.suspended': 1,
        'spend_limit.set': 1,
      },
      by_actor: {
        'ada@example.org': 1,
        'key key_all (no named person)': 1,
        'system remit': 1,
        'bo@example.org': 1,
      },
    })
    expect(metric(facts, 'M36')).toMatchObject({ value: 2, population: 4 })
    expect(check(facts, 'CHG-1')).toMatchObject({ ok: false, failures: [{ seqs: [2, 3] }] })
  })
})

describe('agent hosts', () => {
  it('M52: the last inventory of each host counts, with what is ungoverned or unread', () => {
    const facts = factsOf([
      inventory('2026-01-02', 'fixed', { governed: 0 }),
      inventory('2026-01-03', 'fixed'),
      inventory('2026-01-03', 'open', { governed: 1 }),
      inventory('2026-01-04', 'unread', { unread: 2 }),
    ])

    expect(metric(facts, 'M52')).toMatchObject({
      value: { hosts: 2, ungoverned: 2, unread: 2 },
      population: 3,
    })
    expect(check(facts, 'DEC-7')).toMatchObject({
      ok: false,
      failures: [{ params: { n: 2, ungoverned: 2, unread: 2 }, count: 2, seqs: [2, 3] }],
    })
  })

  it('DEC-7 does not apply without an inventory', () => {
    expect(check(factsOf([]), 'DEC-7')).toMatchObject({ population: 0 })
  })
})

describe('trust', () => {
  const evaluated = (time: string, outcome: 'allow' | 'deny', reason: string): EntryInput => ({
    at: time,
    kind: 'trust.evaluated',
    decision: outcome,
    reason,
  })
  const trust = (id: string, sources: unknown[], more: object = {}) =>
    change('2025-12-01', 'trust_policy.created', {
      policy: {
        id,
        effect: 'allow',
        source_agents: sources,
        target_agents: ['*'],
        enabled: true,
        ...more,
      },
    })

  it('M43: evaluations, those denied by default, and rules for everyone', () => {
    const said = [
      trust('narrow', ['payer', { labels: { team: 'x' } }]),
      trust('wide', ['payer', '**']),
      trust('wide-deny', ['*'], { effect: 'deny' }),
      trust('off', ['*'], { enabled: false }),
      trust('over', ['*'], { expires_at: '2026-04-01T00:00:00.000Z' }),
      evaluated('2026-01-02', 'allow', 'policy_allow'),
      evaluated('2026-01-02', 'deny', 'policy_deny'),
      evaluated('2026-01-02', 'deny', 'default_deny'),
      evaluated('2026-01-02', 'deny', 'no_policy'),
    ]
    const facts = factsOf(said)
    expect(metric(facts, 'M43')).toMatchObject({
      value: {
        allow: 1,
        deny: 3,
        denied_by_default: { numerator: 2, denominator: 4, text: '0.5000' },
        rules: 3,
        wildcard_rules: 2,
      },
      population: 4,
    })
    expect(check(facts, 'TRU-1')).toMatchObject({ ok: false, failures: [{ count: 1, seqs: [1] }] })
  })

  it('M44: an issuer must be trusted at the time, and the credential have an end and a scope', () => {
    const issuer = (time: string, id: string, more: object = {}) =>
      change(time, 'issuer.trusted', { issuer: { id, issuer: 'x', enabled: true, ...more } })
    const bare = (time: string, credentialId: string): EntryInput => ({
      ...exchange(time, 'idp_1'),
      data: { idp_id: 'idp_1', credential_id: credentialId },
    })
    const said = [
      exchange('2026-01-01', 'idp_1'),
      issuer('2026-01-02', 'idp_1'),
      issuer('2026-01-02', 'idp_2', { expires_at: '2026-01-04T00:00:00.000Z' }),
      exchange('2026-01-03', 'idp_1'),
      exchange('2026-01-03', 'idp_2'),
      exchange('2026-01-05', 'idp_2'),
      bare('2026-01-06', 'cred_6'),
      credential('2026-01-06', 'cred_6', { source: 'exchange' }),
      bare('2026-01-07', 'cred_7'),
      credential('2026-01-07', 'cred_7', { source: 'exchange', scopes: [] }),
      at('2026-01-08', 'token.refused', { idp_id: 'idp_1', reason: 'exp' }),
      at('2026-01-08', 'token.refused', { idp_id: null, reason: 'too_many', count: 40 }),
    ]
    const facts = factsOf(said)
    expect(metric(facts, 'M44')).toMatchObject({
      value: {
        issuers: 1,
        by_issuer: {
          idp_1: { exchanged: 4, refused: 1 },
          idp_2: { exchanged: 2, refused: 0 },
          unknown: { exchanged: 0, refused: 40 },
        },
        untrusted: 2,
        unlimited: 1,
      },
      population: 6,
    })
    expect(check(facts, 'TRU-2')).toMatchObject({ ok: false, failures: [{ seqs: [0, 5, 8] }] })
  })
})

describe('guard', () => {
  const checked = (time: string, agent_id: string | null, data: object): EntryInput => ({
    at: time,
    kind: 'guard.checked',
    ...(agent_id !== null && { agent_id }),
    data: { action: 'block', flagged: true, ...data },
  })

  it('M45: verdicts with the allows that were only counted, and the agents that were checked', () => {
    const said = [
      decision('2026-01-02', { agent_id: 'a' }),
      decision('2026-01-02', { agent_id: 'b' }),
      decision('2026-01-02', { agent_id: 'c' }),
      decision('2026-01-03', { agent_id: 'd' }),
      checked('2026-01-03', 'a', {}),
      checked('2026-01-03', null, { action: 'redact' }),
      checked('2026-01-03', 'x', { action: 'allow' }),
    ]
    const facts = factsOf(said)
    expect(metric(facts, 'M45')).toMatchObject({
      value: {
        checks: 3,
        by_verdict: { allow: 1, redact: 1, block: 1 },
        agents_checked: { numerator: 1, denominator: 4 },
      },
      population: 4,
    })
    expect(check(facts, 'GRD-1')).toMatchObject({
      ok: false,
      failures: [{ params: { share: '25%', checked: 1, of: 4 }, count: 3, seqs: [1, 2, 3] }],
    })
    const counted = at('2026-01-04', 'guard.counted', {
      action: 'allow',
      checks: 9,
      agents: [
        { agent_id: 'b', checks: 8 },
        { agent_id: null, checks: 1 },
      ],
    })
    expect(value([...said, counted], 'M45')).toMatchObject({
      checks: 12,
      by_verdict: { allow: 10 },
      agents_checked: { text: '0.5000' },
    })
    expect(check(factsOf([...said, counted]), 'GRD-1')).toMatchObject({ ok: true })
  })

  it('M46: a flag is followed by an allow of its session or request, and only a later one', () => {
    const allow = (time: string, context: object) => decision(time, { data: { context } })
    const said = [
      allow('2026-01-01', { session_id: 's1' }),
      checked('2026-01-02', 'a', { session_id: 's1' }),
      checked('2026-01-02', 'a', { session_id: 's1', request_id: 'r1' }),
      checked('2026-01-02', 'a', { request_id: 'r2' }),
      checked('2026-01-02', 'a', {}),
      checked('2026-01-02', 'a', { flagged: false, session_id: 's1' }),
      decision('2026-01-03', { decision: 'deny', data: { context: { request_id: 'r2' } } }),
      allow('2026-01-03', { request_id: 's1' }),
      allow('2026-01-04', { request_id: 'r1' }),
      allow('2026-01-05', { session_id: 's1', request_id: 'r1' }),
    ]
    const facts = factsOf(said)
    expect(metric(facts, 'M46')).toMatchObject({
      value: { flagged: 4, followed: 2, unlinked: 1 },
      population: 4,
    })
    expect(check(facts, 'GRD-2')).toMatchObject({
      population: 3,
      ok: false,
      failures: [{ params: { n: 2 }, seqs: [1, 2] }],
    })
    expect(check(factsOf([checked('2026-01-02', 'a', {})]), 'GRD-2')).toMatchObject({
      population: 0,
    })
  })

  it('M46: a flag of shortly before the period counts where an allow of the period follows it', () => {
    const flags = [
      checked('2025-11-29', 'a', { session_id: 'old' }),
      checked('2025-12-31', 'a', { session_id: 's1' }),
      checked('2025-12-31', 'a', { session_id: 's2' }),
      checked('2025-12-31', 'a', {}),
    ]
    const allows = ['old', 's1'].map((session_id) =>
      decision('2026-01-01', { data: { context: { session_id } } }),
    )
    const facts = factsOf([...flags, ...allows])

    expect(metric(facts, 'M46')).toMatchObject({
      value: { flagged: 1, followed: 1, unlinked: 0 },
      population: 1,
    })
    expect(check(facts, 'GRD-2')).toMatchObject({
      population: 1,
      ok: false,
      failures: [{ seqs: [1] }],
    })
    expect(check(factsOf(flags), 'GRD-2')).toMatchObject({ population: 0 })
  })
})

describe('scorers', () => {
  const ran = (time: string, scorer: string, data: object) =>
    at(time, 'scorer.ran', { scorer, ...data })
  const born = organization('organization.created', '2025-06-01')
  const said = [
    ran('2025-09-30', 'judge', { count: 9, scored: 9, failed: 9 }),
    ran('2025-12-01', 'judge', { count: 10, scored: 10, failed: 1 }),
    ran('2026-01-11', 'judge', { count: 10, scored: 10, failed: 2 }),
    ran('2026-01-21', 'judge', { count: 12, scored: 10, pass_rate: 0.9 }),
    ran('2026-02-10', 'exact', { count: 10, scored: 10, failed: 1 }),
    ran('2026-02-11', 'empty', { count: 3, scored: 0, failed: 0 }),
  ]

  it('M47: runs by scorer, and the longest time without anything scored', () => {
    // 10 February to 1 April: the last run scored nothing.
    expect(value(said, 'M47')).toEqual({
      runs: 4,
      by_scorer: {
        judge: { runs: 2, items: 22, scored: 20 },
        exact: { runs: 1, items: 10, scored: 10 },
        empty: { runs: 1, items: 3, scored: 0 },
      },
      longest_days: '50.00',
    })
    // Three runs that scored anything end four intervals with the edges.
    expect(check(factsOf([born, ...said]), 'SCR-1')).toMatchObject({
      population: 4,
      basis: 3,
      ok: false,
      failures: [{ params: { days: '50.00' }, count: 1, seqs: [5] }],
    })
    expect(check(factsOf([born]), 'SCR-1')).toMatchObject({ ok: false, failures: [{ seqs: [] }] })
    const failed = [1, 20, 40, 60, 80].map((days) =>
      ran(day(days), 'judge', { count: 10, scored: 0, errors: 10 }),
    )
    const useless = factsOf([born, ...failed])
    expect(check(useless, 'SCR-1')).toMatchObject({ ok: false, value: { longest_days: '90.00' } })
    expect(useless.evidence.find(({ kind }) => kind === 'scorer_runs')).toMatchObject({
      count: 5,
      operated: false,
    })
    // Nobody could have run anything for an organization that was not there.
    expect(check(factsOf([]), 'SCR-1')).toMatchObject({ population: 0 })
  })

  it('M48: the share below the threshold, and what it was in the 90 days before', () => {
    const facts = factsOf(said)
    expect(metric(facts, 'M48')).toMatchObject({
      value: {
        exact: { share: { text: '0.1000' }, before: null, difference: null },
        judge: {
          share: { numerator: 3, denominator: 20, text: '0.1500' },
          before: { numerator: 1, denominator: 10 },
          difference: '0.0500',
        },
      },
      population: 30,
    })
    expect(check(facts, 'SCR-2')).toMatchObject({
      ok: false,
      failures: [
        { params: { scorer: 'judge', share: '15%', failed: 3, of: 20 }, count: 2, seqs: [2, 3] },
      ],
    })
  })
})
