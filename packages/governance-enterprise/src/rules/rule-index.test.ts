import fc from 'fast-check'
import { cpuMsOf, runs } from '@remit/testing/pure'
import { describe, expect, it } from 'vitest'
import { isAbout, isBroad, RuleIndex } from './rule-index.ts'
import type { Rule } from './rule-index.ts'
import { anAsk, aRule } from '../../test/support/rules.ts'

const agents = ['a', 'b', 'planner-1', 'planner-2']
const actions = ['pay', 'pay.eu', 'pay.eu.fast', 'pay.us', 'mail.send', 'payroll.run', '.', 'a..b']
const agentPattern = fc.constantFrom(...agents, '*', 'planner-*', '*-1', '**')
const actionPattern = fc.constantFrom(
  ...actions,
  '*',
  'pay.*',
  'pay*',
  'pay.eu.*',
  '*.send',
  '.*',
  'a.*.b',
  'a..*',
)
const someRules = fc
  .array(
    fc.record({
      agents: fc.array(agentPattern, { minLength: 1, maxLength: 4 }),
      actions: fc.array(actionPattern, { minLength: 1, maxLength: 4 }),
      resources: fc.constantFrom(['*'], ['**', 'a'], ['a'], ['a*']),
      notBefore: fc.constantFrom(null, 0, 2 ** 50),
      expiresAt: fc.constantFrom(null, 0, 2 ** 50),
    }),
    { maxLength: 12 },
  )
  .map((rules) => rules.map((rule, i) => aRule({ ...rule, id: `r${i}` })))

describe('RuleIndex', () => {
  it('returns the rules of one key in order, so that the reported rule is stable', () => {
    const rules = [1, 2, 3].flatMap((n) => [
      aRule({ id: `any ${n}`, agents: ['*'], actions: ['pay'] }),
      aRule({ id: `own ${n}`, agents: ['a'], actions: ['pay'] }),
    ])

    const { rules: found } = RuleIndex.of(rules).candidates('a', 'pay')

    expect(found.map(({ id }) => id)).toEqual([
      'any 1',
      'any 2',
      'any 3',
      'own 1',
      'own 2',
      'own 3',
    ])
  })

  it('finds every rule that matches, each once, whatever their patterns', () => {
    fc.assert(
      fc.property(
        someRules,
        fc.constantFrom(...agents),
        fc.constantFrom(...actions),
        (rules, agent_id, action) => {
          const ask = anAsk({ agent_id, action })
          const { rules: found, certain } = RuleIndex.of(rules).candidates(agent_id, action)

          const matching = rules.filter((rule) => isAbout(rule, ask))
          expect(new Set(found).size).toBe(found.length)
          expect(found).toEqual(expect.arrayContaining(matching))
          expect(matching).toEqual(expect.arrayContaining(found.slice(0, certain)))
        },
      ),
      { numRuns: runs(2_000) },
    )
  })

  it('looks at few rules where agents and actions are named', () => {
    const rules = Array.from({ length: 10_000 }, (_, i) =>
      aRule({ agents: [`agent${i % 1_000}`], actions: [`svc${i % 100}.${i % 2 ? '*' : 'read'}`] }),
    )

    expect(RuleIndex.of(rules).candidates('agent7', 'svc7.read').rules.length).toBeLessThan(20)
  })

  it('keeps a rule with many agents and actions once an action', () => {
    const many = (letter: string) => Array.from({ length: 50 }, (_, i) => `${letter}${i}`)
    const index = RuleIndex.of([aRule({ agents: many('a'), actions: many('b.') })])

    expect(index.candidates('a49', 'b.49').rules).toHaveLength(1)
    expect(index.candidates('a1', 'c').rules).toHaveLength(0)
  })

  it('compares no pair of patterns that are slow to compare', async () => {
    const run = 'a'.repeat(100)
    const slow = Array.from({ length: 5_000 }, (_, i) => `*${run}b${run}${i}-*`)
    const took = await cpuMsOf(() => RuleIndex.of([aRule({ actions: slow })]))

    expect(took).toBeLessThan(2_000)
  })

  it('a rule of few agents and many action patterns is a candidate for these agents alone', () => {
    const many = Array.from({ length: 50 }, (_, i) => `*.${i}`)
    const index = RuleIndex.of([aRule({ agents: ['payer', 'planner'], actions: many })])

    expect(index.candidates('payer', 'a.1').rules).toHaveLength(1)
    expect(index.candidates('other', 'a.1').rules).toEqual([])
  })
})

describe('isBroad', () => {
  it.each([
    [['*'], ['*'], true],
    [['planner-*'], ['*.read'], true],
    [['*'], ['pay.*', '*'], true],
    [['*'], ['pay.*'], false],
    [['*'], ['pay'], false],
    [['a'], ['*'], false],
  ])('%j and %j: %s', (ofAgents, ofActions, expected) => {
    expect(isBroad({ agents: ofAgents, actions: ofActions })).toBe(expected)
  })

  it('is exactly a rule that is a candidate for an unknown request', () => {
    fc.assert(
      fc.property(someRules, (rules) => {
        const { rules: found } = RuleIndex.of(rules).candidates('\u0000', '\u0000')
        expect(new Set(found)).toEqual(new Set(rules.filter((rule: Rule) => isBroad(rule))))
      }),
    )
  })
})
