import type { Framework } from '@remit/contract'
import { describe, expect, it } from 'vitest'
import { CATALOGUES, CHECKS } from '../src/catalogue/catalogue.ts'
import type { Catalogue } from '../src/catalogue/definitions.ts'
import { contentOf } from '../src/report/document.ts'
import type { PeriodFacts } from '../src/facts/index.ts'
import { ALONG, BAD_FACTS, GOOD_CHAIN, GOOD_REPORT } from './support/bad-facts.ts'
import type { Given } from './support/bad-facts.ts'
import { factsOf } from './support/facts.ts'
import { goodLedger } from './support/good-ledger.ts'

const GOOD: Given = { said: goodLedger(), chain: GOOD_CHAIN, report: GOOD_REPORT }

const reportOn = ({ said, chain, report }: Given): PeriodFacts =>
  factsOf(said, { chain, reports: [report] })

/** The controls of a framework by their status, whatever its categories. */
const statuses = ({ framework, ...rest }: Catalogue, facts: PeriodFacts) => {
  const scope = { categories: Object.keys(framework.groups ?? {}), role: null }
  return contentOf({ framework, ...rest }, scope, facts).controls
}

const failed = (facts: PeriodFacts): string[] =>
  facts.checks.filter(({ ok, population }) => population > 0 && !ok).map(({ check }) => check)

/** A broken ledger is about every control that is computed. */
const ABOUT_ALL: ReadonlySet<string> = new Set(['LED-1', 'LED-7'])

function expectedIn(id: Framework, catalogue: Catalogue, checks: readonly string[]): string[] {
  const named = (control: string) =>
    checks.some((check) => {
      const { severity, controls } = CHECKS.get(check)!
      return severity !== 'low' && controls[id].includes(control)
    })
  const { fallback } = catalogue.framework
  const isNamed = checks.some((check) => CHECKS.get(check)!.controls[id].length > 0)
  const isSerious = ['high', 'critical'].includes(CHECKS.get(checks[0]!)!.severity)
  if (!isNamed && isSerious && !ABOUT_ALL.has(checks[0]!)) return fallback.slice(0, 1)
  return catalogue.controls
    .filter(
      ({ id: control, coverage }) =>
        coverage !== 'manual' && (ABOUT_ALL.has(checks[0]!) || named(control)),
    )
    .map(({ id: control }) => control)
}

describe('a ledger in which nothing is bad', () => {
  const facts = reportOn(GOOD)

  it('makes every check apply and pass', () => {
    expect([...CHECKS.keys()].toSorted()).toEqual(facts.checks.map(({ check }) => check).toSorted())
    for (const { check, ok, population, failures } of facts.checks) {
      expect(failures, check).toEqual([])
      expect(ok, check).toBe(true)
      expect(population, check).toBeGreaterThan(0)
    }
  })

  it.each([...CATALOGUES])('satisfies every control of %s that is computed', (_, catalogue) => {
    for (const { id, coverage, status } of statuses(catalogue, facts))
      expect(status, id).toBe(coverage === 'manual' ? 'manual' : 'satisfied')
  })
})

describe('one bad fact', () => {
  it('is known for every check', () => {
    expect(Object.keys(BAD_FACTS).toSorted()).toEqual([...CHECKS.keys()].toSorted())
  })

  describe.each([...CHECKS])('for %s', (check) => {
    const checks = [check, ...(ALONG[check] ?? [])]
    const facts = reportOn(BAD_FACTS[check]!(GOOD))

    it('fails that check and no other', () => {
      expect(failed(facts).toSorted()).toEqual(checks.toSorted())
    })

    it.each([...CATALOGUES])('flips exactly the controls of %s that name it', (id, catalogue) => {
      const controls = statuses(catalogue, facts)
      const flipped = controls.filter(({ status }) => status === 'attention')

      expect(flipped.map((one) => one.id)).toEqual(expectedIn(id, catalogue, checks))
      const reason = ABOUT_ALL.has(check) ? 'ledger_not_verified' : 'check_failed'
      expect(flipped.every((one) => one.reason === reason)).toBe(true)
    })

    it.each([...CATALOGUES])('is a finding with entries, in %s', (_, catalogue) => {
      const scope = { categories: Object.keys(catalogue.framework.groups ?? {}), role: null }
      const { findings } = contentOf(catalogue, scope, facts)

      expect(findings.map((one) => one.check)).toContain(check)
      for (const finding of findings) expect(finding.text).not.toMatch(/[{}]|undefined|\bunknown\b/)
    })
  })
})
