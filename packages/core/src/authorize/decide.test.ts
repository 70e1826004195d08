import { describe, expect, it, vi } from 'vitest'
import { DecisionMeter } from '../computing/computing.ts'
import { decide, observe } from './decide.ts'
import type { SlotState } from './decide.ts'
import { SLOTS } from './stage.ts'
import type { Ask, Observer, Slot, Stage, StageVerdict } from './stage.ts'

const ASK: Ask = {
  orgId: 'org_1',
  plan: 'enterprise',
  decisionId: 'dec_1',
  caller: null,
  claims: {},
  request: { agent_id: 'a', action: 'b.c' },
  resource: null,
  now: 0,
  meter: new DecisionMeter(),
}

const deny = (message = 'no'): StageVerdict => ({
  verdict: 'deny',
  reason: 'default_deny',
  message,
})
const needsApproval: StageVerdict = {
  verdict: 'needs_approval',
  reason: 'approval_required',
  message: 'ask',
}
const pass: StageVerdict = { verdict: 'pass' }

/** A stage that says what it is told to, or throws it. */
function stage(said: StageVerdict | Error, options: Partial<SlotState> = {}): SlotState {
  const made: Stage = {
    unavailable: { reason: 'stage_unavailable', message: 'cannot answer' },
    load: () => Promise.resolve(null),
    prepare: () => Promise.resolve(null),
    decide: () => {
      if (said instanceof Error) throw said
      return said
    },
  }
  return {
    stage: made,
    available: true,
    rules: null,
    state: null,
    leftOut: null,
    effects: [],
    ...options,
  }
}

const run = (stages: Partial<Record<Slot, SlotState>>, ask: Partial<Ask> = {}) =>
  decide({ ...ASK, ...ask }, new Map(Object.entries(stages) as [Slot, SlotState][]))

describe('decide', () => {
  it('allows when no stage stands against it', () => {
    expect(run({})).toMatchObject({ decision: 'allow', reason: 'default_allow', trace: [] })
    expect(run({ agent_deny: stage(pass), policy: stage(pass) })).toMatchObject({
      decision: 'allow',
      reason: 'default_allow',
    })
  })

  it('asks in the order of the slots, whatever the order of the map', () => {
    const stages = Object.fromEntries(SLOTS.toReversed().map((slot) => [slot, stage(pass)]))

    expect(run(stages).trace.map(({ slot }) => slot)).toEqual([
      'agent_deny',
      'spend_limit',
      'policy',
      'approval_rule',
    ])
  })

  it.each(SLOTS)('the denial of %s is the answer, and no later stage is asked', (slot) => {
    const stages = Object.fromEntries(
      SLOTS.map((one) => [one, stage(one === slot ? deny(one) : pass)]),
    )
    const later = SLOTS.slice(SLOTS.indexOf(slot) + 1)
    for (const one of later) stages[one] = stage(new Error('must not be asked'))

    const decided = run(stages)

    expect(decided).toMatchObject({ decision: 'deny', reason: 'default_deny', message: slot })
    expect(decided.trace).toHaveLength(SLOTS.length - later.length)
  })

  it('the first of two answers wins', () => {
    expect(run({ spend_limit: stage(deny()), approval_rule: stage(needsApproval) }).decision).toBe(
      'deny',
    )
    expect(run({ policy: stage(needsApproval), approval_rule: stage(deny()) }).decision).toBe(
      'needs_approval',
    )
  })

  it('the last reason that a stage gives is that of the allow', () => {
    const policy = stage({ verdict: 'pass', reason: 'policy_allow' })

    expect(run({ policy }).reason).toBe('policy_allow')
    expect(run({ policy, approval_rule: stage(pass) }).reason).toBe('policy_allow')
    expect(
      run({ policy, approval_rule: stage({ verdict: 'pass', reason: 'approved' }) }).reason,
    ).toBe('approved')
  })

  describe('a stage that cannot answer denies', () => {
    it.each([
      ['it throws', stage(new Error('broken'))],
      ['it is unavailable, whatever it would have said', stage(pass, { available: false })],
    ])('when %s', (_, broken) => {
      const decided = run({ spend_limit: broken, approval_rule: stage(needsApproval) })

      expect(decided).toMatchObject({
        decision: 'deny',
        reason: 'stage_unavailable',
        message: 'cannot answer',
        effects: [],
      })
    })

    it('and says what it has thrown', () => {
      const error = new Error('broken')

      expect(run({ spend_limit: stage(error) }).broken).toEqual({ slot: 'spend_limit', error })
      expect(run({ spend_limit: stage(pass, { available: false }) }).broken).toBeNull()
    })

    it('but not when an earlier stage has answered', () => {
      expect(
        run({ agent_deny: stage(deny('first')), spend_limit: stage(new Error('broken')) }).message,
      ).toBe('first')
    })
  })

  describe('effects', () => {
    const held = (effect: string): StageVerdict => ({ verdict: 'pass', effect })
    const opened: StageVerdict = { ...needsApproval, effect: 'request' }
    const effectsOf = (stages: Partial<Record<Slot, SlotState>>) =>
      run(stages).effects.map(({ slot, effect }) => `${slot} ${String(effect)}`)

    it('of passes stand when everything passed', () => {
      expect(
        effectsOf({ spend_limit: stage(held('hold')), approval_rule: stage(held('used')) }),
      ).toEqual(['spend_limit hold', 'approval_rule used'])
    })

    it('of passes fall with a denial', () => {
      expect(effectsOf({ spend_limit: stage(held('hold')), policy: stage(deny()) })).toEqual([])
    })

    it('of passes fall when approval is needed, and the request stands', () => {
      expect(effectsOf({ spend_limit: stage(held('hold')), approval_rule: stage(opened) })).toEqual(
        ['approval_rule request'],
      )
    })

    it('are not made up where a stage has none', () => {
      expect(effectsOf({ spend_limit: stage(pass), approval_rule: stage(needsApproval) })).toEqual(
        [],
      )
    })

    it('may be any value, also one that looks like nothing', () => {
      expect(run({ spend_limit: stage({ verdict: 'pass', effect: 0 }) }).effects).toMatchObject([
        { effect: 0, decision: 'allow' },
      ])
    })
  })

  describe('on the team plan', () => {
    const upper = {
      policy: stage(deny(), { leftOut: 'Policies are not evaluated.' }),
      approval_rule: stage(needsApproval, { leftOut: 'Approval rules are not evaluated.' }),
    }

    it.each(['team', 'free'] as const)(
      'policies and approval rules are left out, and named (%s)',
      (plan) => {
        const decided = run({ spend_limit: stage(pass), ...upper }, { plan })

        expect(decided.decision).toBe('allow')
        expect(decided.trace.map(({ slot }) => slot)).toEqual(['spend_limit'])
        expect(decided.warnings).toEqual([
          'Policies are not evaluated.',
          'Approval rules are not evaluated.',
        ])
      },
    )

    it('nothing is named where there is nothing to leave out', () => {
      expect(run({ policy: stage(deny()) }, { plan: 'team' })).toMatchObject({
        decision: 'allow',
        warnings: [],
      })
    })

    it('the lower slots still answer', () => {
      expect(run({ agent_deny: stage(deny()) }, { plan: 'team' }).decision).toBe('deny')
      expect(run({ spend_limit: stage(deny()) }, { plan: 'team' }).decision).toBe('deny')
    })

    it('a broken stage that is left out denies nobody', () => {
      expect(run({ policy: stage(new Error('broken')) }, { plan: 'team' }).decision).toBe('allow')
    })
  })

  it('puts together what the stages note, the later one last', () => {
    const noting = (id: string, data: object): StageVerdict => ({
      verdict: 'pass',
      notes: {
        matched: [{ kind: 'rule', id }],
        data: { ...data },
        answer: { limit_usd: id.length },
        warnings: [`about ${id}`],
      },
    })

    const decided = run({
      agent_deny: stage(noting('x', { a: 1, b: 1 })),
      policy: stage(noting('yy', { b: 2 })),
    })

    expect(decided).toMatchObject({
      matched: [
        { kind: 'rule', id: 'x' },
        { kind: 'rule', id: 'yy' },
      ],
      data: { a: 1, b: 2 },
      answer: { limit_usd: 2 },
      warnings: ['about x', 'about yy'],
    })
  })

  it('keeps what a denying stage notes', () => {
    const denied = run({
      policy: stage({
        verdict: 'deny',
        reason: 'policy_deny',
        message: 'no',
        notes: { matched: [{ kind: 'policy', id: 'p' }] },
      }),
    })

    expect(denied.matched).toEqual([{ kind: 'policy', id: 'p' }])
  })
})

describe('observe', () => {
  const rule = { kind: 'policy', id: 'p', would: 'deny' } as const
  const observed = (observers: Partial<Record<Slot, Observer>>, ask: Partial<Ask> = {}) => {
    const errors: unknown[] = []
    const entries = Object.entries(observers) as [Slot, Observer][]
    const found = observe({ ...ASK, ...ask }, new Map(entries), (...error) => errors.push(error))
    return { ...found, errors }
  }

  it('keeps the results of the other stage if one throws, and reports the error', () => {
    const error = new Error('broken')
    const broken = () => {
      throw error
    }

    expect(observed({ policy: broken, approval_rule: () => [rule] })).toEqual({
      observed: [rule],
      observed_incomplete: true,
      errors: [['policy', error]],
    })
  })

  it('leaves out the results of a stage whose time limit ended', () => {
    const endless: Observer = (_, meter) => {
      while (!meter.isOver());
      return [rule]
    }

    expect(observed({ policy: () => [rule], approval_rule: endless })).toEqual({
      observed: [rule],
      observed_incomplete: true,
      errors: [],
    })
  })

  it('gives them 2 ms together', () => {
    let ms = 0
    vi.spyOn(performance, 'now').mockImplementation(() => ms)
    vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => ({ user: ms * 1000, system: 0 }))
    const slow: Observer = (_, meter) => {
      for (let step = 0; step < 2 && !meter.isOver(); step++) ms++
      return [rule]
    }

    expect(observed({ policy: slow, approval_rule: slow })).toEqual({
      observed: [rule],
      observed_incomplete: true,
      errors: [],
    })
    expect(ms).toBe(3)
    vi.restoreAllMocks()
  })

  it('evaluates nothing for a request that no rule can judge', () => {
    expect(observed({ policy: () => [rule] }, { claims: { unmappable: 'x' } })).toEqual({
      errors: [],
    })
  })
})
