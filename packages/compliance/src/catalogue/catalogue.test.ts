import { hash } from 'node:crypto'
import { ENTRIES } from '@remit/contract/entries'
import { Failure } from '@remit/core/base'
import { describe, expect, test } from 'vitest'
import { CATALOGUES, CHECKS, METRICS } from './catalogue.ts'
import { EVIDENCE_KINDS } from '../facts/evidence-kinds.ts'
import { coversKind, isKindInPlan } from '../facts/meter.ts'
import { EVIDENCE_SOURCES } from '../facts/evidence-sources.ts'
import { categoryOf, controlsIn, scopeOf, scopeStatement } from './report-scope.ts'

const COUNTS = {
  soc2: { automated: 2, partial: 19, manual: 40 },
  eu_ai_act: { automated: 4, partial: 27, manual: 45 },
  nist_ai_rmf: { automated: 2, partial: 27, manual: 43 },
} as const

const frameworks = [...CATALOGUES.values()]
const duplicates = (ids: readonly string[]) => ids.filter((id, i) => ids.indexOf(id) !== i)

describe.each(frameworks)('the catalogue of $framework.id', ({ framework, controls }) => {
  test('has the documented controls and coverage', () => {
    const counts = { automated: 0, partial: 0, manual: 0 }
    for (const { coverage } of controls) counts[coverage]++
    expect(controls).toHaveLength(framework.controls)
    expect(counts).toEqual(COUNTS[framework.id])
    expect(duplicates(controls.map(({ id }) => id))).toEqual([])
  })

  test('is manual exactly where there is no evidence', () => {
    const wrong = controls.filter((c) => (c.coverage === 'manual') !== (c.evidence.length === 0))
    expect(wrong).toEqual([])
  })

  test('names kinds of evidence that there are, each once', () => {
    for (const { id, evidence } of controls) {
      expect(duplicates(evidence), id).toEqual([])
      for (const kind of evidence) expect(EVIDENCE_KINDS.has(kind), `${id}: ${kind}`).toBe(true)
    }
  })

  test('has a check for every control that is not manual, and none for one that is', () => {
    const checked = new Set([...CHECKS.values()].flatMap((check) => check.controls[framework.id]))
    const computed = controls.filter(({ coverage }) => coverage !== 'manual').map(({ id }) => id)
    expect([...checked].toSorted()).toEqual(computed.toSorted())
  })

  test('requires of a control only checks that name it', () => {
    for (const { id, requires = [] } of controls)
      for (const check of requires)
        expect(CHECKS.get(check)?.controls[framework.id], `${id}: ${check}`).toContain(id)
  })

  test('puts every control into a category of the documented size', () => {
    if (!framework.groups) return
    const sizes = Object.groupBy(controls, ({ id }) => categoryOf(framework, id) ?? 'none')
    const counted = Object.entries(sizes).map(([name, ids]) => [name, ids?.length ?? 0])
    expect(Object.fromEntries(counted)).toEqual(framework.groups)
  })

  test('has texts that promise nothing', () => {
    for (const { id, title, summary, supply } of controls) {
      for (const text of [title, summary, ...supply]) expect(text.trim(), id).not.toBe('')
      expect([title, summary, ...supply].join(' ')).not.toMatch(FORBIDDEN)
    }
    expect(JSON.stringify(framework)).not.toMatch(FORBIDDEN)
  })
})

const FORBIDDEN = /\b(?:compliant|certified|conforms|audit passed|score)\b/i

describe('checks, metrics and kinds of evidence', () => {
  test('are 42, 53 and 20', () => {
    expect([CHECKS.size, METRICS.size, EVIDENCE_KINDS.size]).toEqual([42, 53, 20])
  })

  test('refer to each other and only to existing controls', () => {
    const known = new Map(
      frameworks.map(({ framework, controls }) => [framework.id, controls.map(({ id }) => id)]),
    )
    for (const check of CHECKS.values()) expect(METRICS.has(check.metric), check.id).toBe(true)
    for (const { id, checks, evidence } of METRICS.values()) {
      for (const check of checks) expect(CHECKS.get(check)?.metric, id).toBe(id)
      for (const kind of evidence) expect(EVIDENCE_KINDS.has(kind), id).toBe(true)
    }
    for (const { id, controls } of [...CHECKS.values(), ...METRICS.values()]) {
      expect(Object.keys(controls).toSorted(), id).toEqual([...known.keys()].toSorted())
      for (const [framework, ids] of Object.entries(controls)) {
        expect(duplicates(ids), id).toEqual([])
        for (const control of ids) expect(known.get(framework as never), id).toContain(control)
      }
    }
  })

  test('of evidence are those that the report gathers', () => {
    expect(Object.keys(EVIDENCE_SOURCES)).toEqual([...EVIDENCE_KINDS.keys()])
  })

  test('of evidence read kinds of entries that there are', () => {
    const kinds = Object.keys(ENTRIES)
    for (const { id, reads } of EVIDENCE_KINDS.values())
      for (const read of reads)
        expect(
          kinds.some((kind) => coversKind(read, kind)),
          `${id}: ${read}`,
        ).toBe(true)
  })

  test('promise nothing', () => {
    const all = [...CHECKS.values(), ...METRICS.values(), ...EVIDENCE_KINDS.values()]
    expect(JSON.stringify(all)).not.toMatch(FORBIDDEN)
  })
})

describe('the hash of a catalogue', () => {
  test('is of the data that the package ships: changed data has another version', () => {
    const hashes = Object.fromEntries(
      frameworks.map(({ framework, sha256 }) => [
        `${framework.id} ${framework.catalog_version}`,
        sha256,
      ]),
    )
    expect(hash('sha256', JSON.stringify(hashes), 'hex')).toMatchInlineSnapshot(
      `"c91340a2fe59b956cbb0dd59b3a1efe8f3512c3c88bef21eca8a21643c774263"`,
    )
  })
})

describe('scope', () => {
  const of = (id: 'soc2' | 'eu_ai_act' | 'nist_ai_rmf') => CATALOGUES.get(id)!
  const reported = (id: Parameters<typeof of>[0], asked: Parameters<typeof scopeOf>[1]) =>
    controlsIn(of(id), scopeOf(of(id), asked))

  test('is the security category of SOC 2 unless asked otherwise, and everything elsewhere', () => {
    expect(reported('soc2', {}).map(({ id }) => id)).toEqual(of('soc2').framework.default_scope)
    expect(reported('eu_ai_act', {})).toHaveLength(76)
    expect(reported('nist_ai_rmf', {})).toHaveLength(72)
  })

  test('holds the categories that are asked for, in the order of the framework', () => {
    const scope = scopeOf(of('soc2'), { categories: ['processing_integrity', 'security'] })

    expect(scope.categories).toEqual(['security', 'processing_integrity'])
    expect(controlsIn(of('soc2'), scope)).toHaveLength(38)
    expect(reported('soc2', { categories: Object.keys(of('soc2').framework.groups!) })).toEqual(
      of('soc2').controls,
    )
    expect(reported('nist_ai_rmf', { categories: ['MEASURE'] }).at(-1)?.id).toBe('MEASURE 4.3')
  })

  test('excludes controls of another role, and states it', () => {
    const provider = reported('eu_ai_act', { role: 'provider' }).length
    const deployer = reported('eu_ai_act', { role: 'deployer' }).length
    const roles = Object.values(of('eu_ai_act').framework.roles!)

    expect(provider + deployer).toBe(76 + roles.filter((role) => role === 'both').length)
    expect(reported('eu_ai_act', { role: 'both' })).toHaveLength(76)
    expect(scopeStatement(of('eu_ai_act'), { categories: [], role: 'deployer' })).toContain(
      'concern the deployer',
    )
  })

  test.each([
    ['soc2', { categories: ['secrecy'] }, 'categories.0'],
    ['soc2', { categories: ['__proto__'] }, 'categories.0'],
    ['soc2', { categories: ['security', 'security'] }, 'categories.1'],
    ['soc2', { role: 'provider' }, 'role'],
    ['eu_ai_act', { categories: ['security'] }, 'categories'],
    ['nist_ai_rmf', { role: 'deployer' }, 'role'],
  ] as const)('of %s refuses %j', (id, asked, path) => {
    let refusal: unknown
    try {
      scopeOf(of(id), asked)
    } catch (error) {
      refusal = error
    }
    expect(refusal).toBeInstanceOf(Failure)
    expect((refusal as Failure).extras.errors?.[0]?.path).toBe(path)
  })
})

test('a team has evidence of the features of its plan', () => {
  const inTeam = [...EVIDENCE_KINDS.keys()].filter((kind) => isKindInPlan(kind, 'team'))
  expect(inTeam).toEqual([
    'ledger_integrity',
    'ledger_continuity',
    'log_retention',
    'authorization_decisions',
    'policy_changes',
    'policy_dry_runs',
    'spend_limits',
    'guard_checks',
    'scorer_runs',
    'admin_actions',
    'report_history',
  ])
  expect([...EVIDENCE_KINDS.keys()].every((kind) => isKindInPlan(kind, 'enterprise'))).toBe(true)
  expect([...EVIDENCE_KINDS.keys()].some((kind) => isKindInPlan(kind, 'free'))).toBe(false)
})
