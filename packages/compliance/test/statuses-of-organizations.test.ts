import type { Framework, ReportContent } from '@remit/contract'
import { describe, expect, test } from 'vitest'
import { CATALOGUES, catalogue } from '../src/catalogue/catalogue.ts'
import { VALID_CHAIN } from '../src/facts/external-facts.ts'
import { contentOf } from '../src/report/document.ts'
import { ms } from './support/by-hand.ts'
import type { EntryInput } from './support/by-hand.ts'
import {
  ADA,
  agent,
  approvalRule,
  change,
  credential,
  day,
  decision,
  key,
  organization,
  policy,
} from './support/entries.ts'
import { factsOf } from './support/facts.ts'
import { goodLedger } from './support/good-ledger.ts'

const FRAMEWORKS = [...CATALOGUES.keys()]
const SOUND_CHAIN = { chain: { ...VALID_CHAIN, checkpoints: 3 }, reports: [] }

/** The content of a report on the first quarter of an organization with these entries. */
function contentFor(framework: Framework, said: readonly EntryInput[]): ReportContent {
  const of = catalogue(framework)
  const scope = { categories: Object.keys(of.framework.groups ?? {}), role: null }
  return contentOf(of, scope, factsOf(said, SOUND_CHAIN))
}

const controlsWith = (status: string, said: readonly EntryInput[]) =>
  FRAMEWORKS.flatMap((framework) => contentFor(framework, said).controls).filter(
    (control) => control.status === status,
  )

const satisfied = (said: readonly EntryInput[]): string[] =>
  controlsWith('satisfied', said).map(({ id }) => id)

const born = (at: string): EntryInput => organization('organization.created', at)
/** An installation that runs, day after day. */
const alive: EntryInput[] = [
  born('2025-06-01'),
  ...Array.from({ length: 120 }, (_, i) => ({
    at: day(i - 25, 0.5),
    kind: i % 20 === 0 ? 'ledger.verified' : 'ledger.heartbeat',
    data: i % 20 === 0 ? { valid: true } : {},
  })),
]

describe('nothing is satisfied', () => {
  test('for a new organization: computed controls are not evidenced', () => {
    const said = [born(day(80))]
    for (const framework of FRAMEWORKS) {
      const { controls, summary } = contentFor(framework, said)
      const manual = controls.filter(({ coverage }) => coverage === 'manual').length
      expect(summary).toMatchObject({ satisfied: 0, attention: 0, manual })
      expect(summary.not_evidenced).toBe(controls.length - manual)
    }
  })

  test('for a period without data, before the organization or within its life', () => {
    expect(satisfied([])).toEqual([])
    expect(satisfied([born('2026-05-01')])).toEqual([])
    expect(satisfied([born('2025-06-01')])).toEqual([])
  })

  test('for an installation that only runs: heartbeats, verifications and reports are no use of it', () => {
    const reports = [10, 40, 70].map((at) => ({
      at: day(at),
      kind: 'report.generated',
      data: { report_id: `rpt_${at}` },
    }))
    expect(satisfied([...alive, ...reports])).toEqual([])
    const history = (said: readonly EntryInput[]) =>
      contentFor('soc2', said).controls.find(({ id }) => id === 'CC4.1')?.evidence[0]?.count
    expect(history([...alive, ...reports])).toBe(history(alive))
  })

  test('by entries of callers, whatever their content', () => {
    const alike = goodLedger().map((one): EntryInput => ({ ...one, kind: 'entry.appended' }))
    expect(satisfied([...alive, ...alike])).toEqual(satisfied(alive))
    expect(controlsWith('satisfied', [born('2025-06-01'), ...alike])).toEqual([])
  })

  test('by dry-runs: they are previews of rules, and no decisions', () => {
    const runs = Array.from({ length: 60 }, (_, i) => ({
      ...decision(day(i)),
      kind: 'policy.dry_run',
    }))
    expect(satisfied([...alive, ...runs])).toEqual(satisfied(alive))
  })

  test('by rules without decisions', () => {
    const configured = [
      ...alive,
      policy('2025-06-03', 'pol'),
      approvalRule('2025-06-03', 'gate'),
      credential(day(-5), 'cred'),
    ]
    const reasons = (kind: string) =>
      FRAMEWORKS.flatMap((framework) => contentFor(framework, configured).controls)
        .filter(({ evidence }) => evidence[0]?.kind === kind)
        .map(({ status, reason }) => [status, reason])

    expect(satisfied(configured)).toEqual(satisfied(alive))
    expect(reasons('policy_rules')).toContainEqual(['not_evidenced', 'not_exercised'])
    expect(reasons('approval_rules')).toContainEqual(['not_evidenced', 'not_exercised'])
    expect(reasons('approval_decisions')).toContainEqual(['not_evidenced', 'not_exercised'])
    expect(reasons('trust_policies')).toContainEqual(['not_evidenced', 'not_configured'])
  })
})

describe('an organization that uses it', () => {
  test.each([
    ['within an hour', 0.01, []],
    // Rules on five days, and regular runs of a scorer.
    [
      'over the quarter',
      100,
      [
        'CC1.3',
        'CC4.1',
        'CC5.1',
        'Art. 9(2)(d)',
        'Art. 17(1)(d)',
        'Art. 17(1)(m)',
        'Art. 26(5)',
        'GOVERN 1.5',
        'GOVERN 2.1',
        'GOVERN 4.3',
        'MAP 2.2',
        'MEASURE 1.2',
        'MEASURE 2.1',
        'MEASURE 2.6',
        'MANAGE 1.3',
      ],
    ],
  ])('for twenty calls of one key %s, has evidence of few controls', (_, step, expected) => {
    const set = [
      ...alive,
      key(ADA.id, 'admin', 'ada@example.org'),
      agent('2025-06-02', 'payer'),
      policy('2025-06-03', 'allow'),
      policy('2025-06-03', 'deny', { effect: 'deny', actions: ['secrets.*'] }),
      approvalRule('2025-06-03', 'large'),
    ]
    const said = { scorer: 'exact_match', threshold: 1, count: 1, scored: 1, failed: 0 }
    const kinds = [
      (at: string) => decision(at),
      (at: string) => decision(at, { decision: 'deny', reason: 'policy_deny' }),
      (at: string) => change(at, 'guard.checked', { action: 'block', flagged: true }),
      (at: string) => change(at, 'scorer.ran', said),
    ]
    const calls = Array.from({ length: 20 }, (__, i) => kinds[i % 4]!(day(1, 1 + i * step)))

    expect(satisfied([...set, ...calls])).toEqual(expected)
  })

  test('only before the period, has no evidence: its registry alone shows no use', () => {
    expect(satisfied([...alive, agent('2025-06-02', 'payer')])).toEqual([])
  })

  test('in every way, but within an hour of the quarter, has no evidence', () => {
    const isOfServer = ({ kind }: EntryInput) => /^(?:ledger|scorer|organization)\./.test(kind)
    const use = goodLedger().filter((one) => !isOfServer(one) && ms(one.at) >= ms(day(0)))
    const squeezed = use
      .toSorted((a, b) => ms(a.at) - ms(b.at))
      .map((one, i) => ({ ...one, at: day(60, i * 0.001) }))
    const before = goodLedger().filter((one) => isOfServer(one) || ms(one.at) < ms(day(0)))
    const { controls } = contentFor('soc2', [...before, ...squeezed])
    const checks = controls.flatMap((control) => control.checks)

    expect(use.length).toBeGreaterThan(200)
    expect(satisfied([...before, ...squeezed])).toEqual([])
    expect(checks.find(({ id }) => id === 'DEC-2')).toMatchObject({ result: 'too_young', days: 1 })
  })

  test('with changes and flags within a second has no evidence of change control or of the guard', () => {
    const isSudden = ({ kind }: EntryInput) =>
      /^(?:policy|agent|credential|approval_rule|permission|trust_policy|issuer|guard)\./.test(kind)
    const sudden = goodLedger().map((one, i) =>
      isSudden(one) && ms(one.at) >= ms(day(0)) ? { ...one, at: day(10, i / 3_600_000) } : one,
    )
    const { controls } = contentFor('soc2', sudden)
    const checkOf = (id: string) =>
      controls.flatMap(({ checks }) => checks).find((one) => one.id === id)

    for (const id of ['CHG-1', 'GRD-2'])
      expect(checkOf(id)).toMatchObject({ result: 'too_young', days: 1, least: { days: 3 } })
    for (const id of ['CC7.1', 'CC8.1', 'CC6.8'])
      expect(controls.find((one) => one.id === id)?.reason).toBe('too_young')
  })

  test('with changes on every day, but without decisions, has no evidence', () => {
    const said = goodLedger().filter(({ kind }) => !/^(?:authorization|approval)\./.test(kind))
    const changes = Array.from({ length: 80 }, (_, i) =>
      change(day(i), 'organization.updated', { organization: { settings: {} } }),
    )
    expect(satisfied([...said, ...changes])).toEqual([])
  })

  test('with stops that no request met, has no evidence that a stop holds', () => {
    const untested = goodLedger().filter(({ reason }) => reason !== 'agent_suspended')
    const controls = FRAMEWORKS.flatMap((framework) => contentFor(framework, untested).controls)

    for (const id of ['CC7.4', 'Art. 14(4)(e)', 'GOVERN 1.7']) {
      const control = controls.find((one) => one.id === id)
      expect(control).toMatchObject({ status: 'not_evidenced', reason: 'nothing_to_check' })
      expect(control?.checks.find((one) => one.id === 'DEC-3')?.result).toBe('not_applicable')
    }
  })

  test('and erased entries shows it at every control, and on no list of evidence', () => {
    const some = goodLedger().map((one, i) => (i % 9 === 0 ? { ...one, erased: true } : one))
    const erased = some.filter(
      (one) => one.erased && ms(one.at) >= ms(day(0)) && ms(one.at) < ms('2026-04-01'),
    )
    const { findings, controls } = contentFor('eu_ai_act', some)
    const found = findings.find(({ check }) => check === 'LED-8')

    expect(found).toMatchObject({ severity: 'low', count: erased.length })
    expect(found?.text).toMatch(/^\d+ entries of the period have no content any more.*approval\./)
    for (const { id, coverage } of controls)
      expect(found?.controls.includes(id), id).toBe(coverage !== 'manual')
  })

  test('for 15 days does not show a retention of six months, whenever it was created', () => {
    const young = goodLedger().filter(
      ({ at, kind }) => kind !== 'authorization.decided' || ms(at) >= ms(day(75)),
    )
    const controls = FRAMEWORKS.flatMap((framework) => contentFor(framework, young).controls)
    const named = controls.filter(({ checks }) => checks.some(({ id }) => id === 'LED-4'))

    expect(named.map(({ id, reason }) => [id, reason])).toEqual(
      ['PI1.5', 'Art. 17(1)(k)', 'Art. 19(1)', 'Art. 26(6)'].map((id) => [id, 'too_young']),
    )
    for (const { checks, evidence } of named) {
      expect(checks.find(({ id }) => id === 'LED-4')).toMatchObject({
        result: 'too_young',
        days: 14,
        least: { days: 183, over: 'record' },
      })
      expect(evidence.find(({ kind }) => kind === 'log_retention')?.reason).toBe('too_young')
    }
  })

  test('in every way, and well, has evidence of everything that is computed', () => {
    const counts = FRAMEWORKS.map((id) => contentFor(id, goodLedger()).summary.satisfied)
    expect(counts).toEqual([21, 31, 29])
  })

  test.each<[string, readonly EntryInput[]]>([
    [
      'an agent that was removed long ago',
      [
        agent('2025-06-05', 'retired'),
        {
          ...agent('2025-06-06', 'retired'),
          kind: 'agent.removed',
          data: { agent_id: 'retired', agent: { agent_id: 'retired' } },
        },
      ],
    ],
    [
      'a denial that no request met',
      [
        change('2025-06-05', 'permission.granted', {
          permission: { id: 'never', effect: 'deny', agent_id: 'payer', actions: ['data.wipe'] },
        }),
      ],
    ],
    [
      'an agent and a grant of the last hours',
      [
        agent(day(89, 20), 'young'),
        credential(day(89, 20), 'cred_young', { agent_id: 'young' }),
        {
          ...change(day(89, 20), 'permission.granted', {
            permission: { id: 'young', effect: 'allow', agent_id: 'young', actions: ['mail.send'] },
          }),
          agent_id: 'young',
        },
      ],
    ],
    [
      'a cap on an agent that spends nothing',
      [
        agent('2025-06-05', 'reader'),
        {
          ...change('2025-06-05', 'spend_limit.set', {
            spend_limit: { agent_id: 'reader', daily_usd: 5 },
          }),
          agent_id: 'reader',
        },
      ],
    ],
    ['an erased decision', [{ ...decision(day(20, 4)), erased: true }]],
  ])('and also has %s, loses no evidence', (_, more) => {
    const counts = FRAMEWORKS.map(
      (id) => contentFor(id, [...goodLedger(), ...more]).summary.satisfied,
    )
    expect(counts).toEqual([21, 31, 29])
  })

  test('and flags sessions that no decision names, has no evidence that flags have consequences', () => {
    const said = goodLedger().filter(({ data }) => !Object.hasOwn(data ?? {}, 'context'))
    const checks = contentFor('soc2', said).controls.flatMap((control) => control.checks)

    expect(checks.find(({ id }) => id === 'GRD-2')?.result).toBe('not_applicable')
  })

  test('without the enterprise plan, has no evidence of its features, with that reason', () => {
    const team = goodLedger().map((one): EntryInput =>
      one.kind === 'organization.created'
        ? {
            ...one,
            data: { organization: { ...(one.data?.['organization'] as object), plan: 'team' } },
          }
        : one,
    )
    const counts = FRAMEWORKS.map((id) => contentFor(id, team).summary.satisfied)
    expect(counts).toEqual([11, 20, 15])
    const reasons = controlsWith('not_evidenced', team).map(({ reason }) => reason)
    expect(new Set(reasons)).toEqual(new Set(['not_in_plan']))
  })

  test('sees that a control is manual whatever its ledger holds', () => {
    const manual = (said: readonly EntryInput[]) => controlsWith('manual', said).map(({ id }) => id)
    expect(manual(goodLedger())).toEqual(manual([]))
    expect(manual([])).toHaveLength(128)
  })
})
