import { at, fitted } from '@remit/contract/fit'
import type { JsonObject } from '@remit/contract/fit'
import { AuthorizeRequest } from '@remit/contract'
import { form, largeContext } from '@remit/testing/large-calls'
import type { Form, Result } from '@remit/testing/large-calls'
import { runs } from '@remit/testing/pure'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { matching } from '../src/approvals/rule.ts'
import type { CompiledApprovalRule } from '../src/approvals/rule.ts'
import { snapshotOf } from '../src/policies/evaluate.ts'
import { answerOf, compileCondition, compileWithLibrary } from '../src/rules/condition.ts'
import { factsOf } from '../src/rules/facts.ts'
import { RuleIndex } from '../src/rules/rule-index.ts'
import { parseCondition } from '../src/rules/syntax.ts'
import { aPolicy, verdictOf } from './support/policies.ts'
import { anAsk, aRule } from './support/rules.ts'

const RULES = fc.sample(form, 500).map((one) => ({
  ...one,
  own: compileCondition(one.text),
  library: compileWithLibrary(parseCondition(one.text).expr),
}))
type Tried = (typeof RULES)[number]

/** Rules of a request in force: some deny, some allow, some ask. */
interface Force {
  readonly deny: readonly Form[]
  readonly allow: readonly Form[]
  readonly ask: readonly Form[]
  readonly otherwise: 'allow' | 'deny'
}
const few = fc.array(fc.constantFrom(...RULES), { maxLength: 1 })
const force = fc.record({
  deny: few,
  allow: few,
  ask: few,
  otherwise: fc.constantFrom('allow' as const, 'allow' as const, 'deny' as const),
})

const STRICTNESS = { allow: 0, needs_approval: 1, deny: 2 }
type Decision = keyof typeof STRICTNESS

/** The decision on the whole call, without any limit. */
function rightly({ deny, allow, ask, otherwise }: Force, context: JsonObject): Decision {
  const says = ({ says: of }: Form): Result => of(context)
  if (deny.some((rule) => says(rule) !== false)) return 'deny'
  if (!allow.some((rule) => says(rule) === true) && otherwise === 'deny') return 'deny'
  return ask.some((rule) => says(rule) !== false) ? 'needs_approval' : 'allow'
}

/** The decision of the stages on what was sent. */
function decided(
  { deny, allow, ask, otherwise }: Force,
  asked: ReturnType<typeof anAsk>,
): Decision {
  const policies = [
    ...deny.map(({ text }) => aPolicy({ effect: 'deny', condition: text })),
    ...allow.map(({ text }) => aPolicy({ effect: 'allow', condition: text })),
  ]
  const verdict = verdictOf(snapshotOf(policies, otherwise), asked)
  if (verdict !== 'allow' && verdict !== 'default allow') return 'deny'
  const rules = ask.map(({ text }) => aRule({ condition: text }) as CompiledApprovalRule)
  return matching(RuleIndex.of(rules), asked).length > 0 ? 'needs_approval' : 'allow'
}

describe('a call that was made to fit', () => {
  it(
    'is never decided less strictly than the whole call, and no condition says something else about it',
    { timeout: 1_200_000 },
    async () => {
      const seen = { replaced: 0, same: 0, unseen: 0, allowed: 0 }
      await fc.assert(
        fc.asyncProperty(
          largeContext,
          fc.shuffledSubarray(RULES, { minLength: 10, maxLength: 10 }),
          force,
          async (context, rules, inForce) => {
            const { context: sent, replaced } = await fitted(context)
            const request = {
              context: sent,
              ...(replaced.length > 0 && { replaced: [...replaced] }),
            }
            const whole = { agent_id: 'payer', action: 'pay', ...request }
            expect(AuthorizeRequest.parse(whole)).toEqual(whole)
            expect(replaced.every((place) => at(sent, place) !== undefined)).toBe(true)
            if (replaced.length > 0) seen.replaced++
            const asked = anAsk(request)
            for (const rule of rules) compare(rule, context, asked)
            const [right, made] = [rightly(inForce, context), decided(inForce, asked)]
            if (replaced.length > 0 && made !== 'deny') seen.allowed++
            expect(STRICTNESS[made]).toBeGreaterThanOrEqual(STRICTNESS[right])
          },
        ),
        { numRuns: runs(10_000) },
      )
      for (const count of Object.values(seen)) expect(count).toBeGreaterThan(runs(50))

      function compare(rule: Tried, context: JsonObject, asked: ReturnType<typeof anAsk>): void {
        const facts = factsOf(asked)
        const right = rule.says(context)
        const results = [rule.own.evaluate(facts), answerOf(rule.library.of(facts))]
        for (const result of results) {
          if (result === right) seen.same++
          else if (result === 'error') seen.unseen++
          else throw new Error(`${rule.text} is ${result}, and ${right} of the whole call`)
        }
      }
    },
  )
})
