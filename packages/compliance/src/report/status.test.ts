import type { ControlStatus, Framework, Plan } from '@remit/contract'
import { describe, expect, test } from 'vitest'
import { factsWith, failed, idle, notApplicable } from '../../test/support/synthetic.ts'
import type { Given } from '../../test/support/synthetic.ts'
import { CATALOGUES, CHECKS, catalogue } from '../catalogue/catalogue.ts'
import { EVIDENCE_KINDS } from '../facts/evidence-kinds.ts'
import { contentOf } from './document.ts'

const FRAMEWORKS = [...CATALOGUES.keys()]

/** All controls of a framework with their status. */
function statuses(framework: Framework, given: Given): Map<string, [ControlStatus, string | null]> {
  const of = catalogue(framework)
  const scope = { categories: Object.keys(of.framework.groups ?? {}), role: null }
  const { controls } = contentOf(of, scope, factsWith(given))
  return new Map(controls.map(({ id, status, reason }) => [id, [status, reason]]))
}

const countOf = (framework: Framework, status: ControlStatus, given: Given): number =>
  [...statuses(framework, given).values()].filter(([one]) => one === status).length

const perFramework = (status: ControlStatus, given: Given) =>
  Object.fromEntries(FRAMEWORKS.map((id) => [id, countOf(id, status, given)]))

const computed = (framework: Framework) =>
  catalogue(framework).controls.filter(({ coverage }) => coverage !== 'manual')

const all = (kinds: Iterable<string>, reason?: 'not_configured' | 'not_exercised' | 'too_young') =>
  [...kinds].map((kind) => idle(kind, reason))

describe('statuses over the shipped catalogues', () => {
  test('with every check passed and all evidence operating, computed controls are satisfied', () => {
    expect(perFramework('satisfied', {})).toEqual({ soc2: 21, eu_ai_act: 31, nist_ai_rmf: 29 })
    expect(perFramework('manual', {})).toEqual({ soc2: 40, eu_ai_act: 45, nist_ai_rmf: 43 })
  })

  test('on the team plan, features outside the plan are not evidenced', () => {
    const given = { plan: 'team' as Plan }
    expect(perFramework('satisfied', given)).toEqual({ soc2: 11, eu_ai_act: 20, nist_ai_rmf: 15 })
    expect(perFramework('not_evidenced', given)).toEqual({
      soc2: 10,
      eu_ai_act: 11,
      nist_ai_rmf: 14,
    })
    const reasons = FRAMEWORKS.flatMap((id) => [...statuses(id, given).values()])
      .filter(([status]) => status === 'not_evidenced')
      .map(([, reason]) => reason)
    expect(new Set(reasons)).toEqual(new Set(['not_in_plan']))
  })

  test('without operation no control is satisfied, even if every check passed', () => {
    for (const reason of ['not_configured', 'not_exercised', 'too_young'] as const) {
      const given = { evidence: all(EVIDENCE_KINDS.keys(), reason) }
      expect(perFramework('satisfied', given)).toEqual({ soc2: 0, eu_ai_act: 0, nist_ai_rmf: 0 })
      for (const id of FRAMEWORKS) {
        for (const { id: control } of computed(id))
          expect(statuses(id, given).get(control)).toEqual(['not_evidenced', reason])
      }
    }
  })

  test('without an applicable check no control is satisfied, however many entries exist', () => {
    const given = { outcomes: [...CHECKS.keys()].map(notApplicable) }
    for (const id of FRAMEWORKS) {
      for (const { id: control } of computed(id))
        expect(statuses(id, given).get(control)).toEqual(['not_evidenced', 'nothing_to_check'])
    }
  })

  test('a valid chain alone satisfies only controls about the record itself', () => {
    const others = [...CHECKS.keys()].filter((check) => !check.startsWith('LED-'))
    const given = { outcomes: others.map(notApplicable) }
    const satisfied = FRAMEWORKS.flatMap((id) =>
      computed(id).filter((control) => statuses(id, given).get(control.id)?.[0] === 'satisfied'),
    )
    const about = new Set(satisfied.map(({ evidence }) => evidence[0]))

    expect(about).toEqual(new Set(['ledger_integrity', 'log_retention', 'report_history']))
  })

  test.each([{ firstBadSeq: 3 }, { mismatches: [{ seq: 8, keptBy: 'rpt_1' }] }])(
    'with a chain that does not verify (%j), every computed control wants attention',
    (chain) => {
      const given = { chain }
      for (const id of FRAMEWORKS) {
        for (const { id: control } of computed(id))
          expect(statuses(id, given).get(control)).toEqual(['attention', 'ledger_not_verified'])
      }
      expect(perFramework('manual', given)).toEqual(perFramework('manual', {}))
    },
  )

  test.each([...CHECKS.values()])(
    '$id alone moves exactly the controls that name it, and none if it is of low severity',
    ({ id: check, severity, controls }) => {
      for (const id of FRAMEWORKS) {
        const found = statuses(id, { outcomes: [failed(check)] })
        const moved = [...found].filter(([, [status]]) => status === 'attention')
        const { fallback } = catalogue(id).framework
        // A broken chain affects every control by itself.
        const isSerious = ['high', 'critical'].includes(severity) && check !== 'LED-7'
        const other = isSerious ? fallback.slice(0, 1) : []
        const named = severity === 'low' ? [] : controls[id].length > 0 ? controls[id] : other
        expect(moved.map(([control]) => control).toSorted()).toEqual(named.toSorted())
        for (const [, [, reason]] of moved) expect(reason).toBe('check_failed')
      }
    },
  )

  test('ACC-5 concerns CC6.2 alone, and APR-3 ten controls', () => {
    const named = (check: string) => Object.values(CHECKS.get(check)!.controls).flat()
    expect(named('ACC-5')).toEqual(['CC6.2'])
    expect(named('APR-3')).toHaveLength(10)
  })

  test('a failure takes precedence over missing use and missing plan', () => {
    const given = {
      plan: 'team' as Plan,
      evidence: all(EVIDENCE_KINDS.keys()),
      outcomes: [failed('APR-3')],
    }
    expect(statuses('soc2', given).get('CC6.3')).toEqual(['attention', 'check_failed'])
  })

  test('a failed check of low severity does not count as one that passed', () => {
    const outcomes = [...CHECKS.keys()].map(notApplicable)
    const given = { outcomes: [...outcomes, failed('GRD-1')] }
    expect(statuses('soc2', given).get('CC6.6')).toEqual(['not_evidenced', 'nothing_to_check'])
  })
})
