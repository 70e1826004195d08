import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { CostBudget } from './budget.ts'
import { CallGate } from './gate.ts'

const never = new AbortController().signal

/** Enters and notes it; resolves at once, whether it may enter or not. */
async function enter(gate: CallGate, run: object, name: string, entered: string[]): Promise<void> {
  void gate.enter(run, never).then(() => entered.push(name))
  await setImmediate()
}

describe('the gate of a judge', () => {
  it('admits calls up to the limit, and the next when one ends', async () => {
    const gate = new CallGate(2)
    const entered: string[] = []
    for (const name of ['a', 'b', 'c']) await enter(gate, gate, name, entered)
    expect(entered).toEqual(['a', 'b'])

    gate.leave()
    await setImmediate()

    expect(entered).toEqual(['a', 'b', 'c'])
  })

  it('alternates between runs, whatever their sizes', async () => {
    const gate = new CallGate(1)
    const [large, small, third] = [{}, {}, {}]
    const entered: string[] = []
    for (const name of ['l1', 'l2', 'l3', 'l4']) await enter(gate, large, name, entered)
    for (const name of ['s1', 's2']) await enter(gate, small, name, entered)
    await enter(gate, third, 't1', entered)

    for (let i = 0; i < 6; i++) {
      gate.leave()
      await setImmediate()
    }

    expect(entered).toEqual(['l1', 'l2', 's1', 't1', 'l3', 's2', 'l4'])
  })

  it('lets half in after too many, never less than one, and one more after each success', () => {
    const gate = new CallGate(8)

    gate.shrink()
    expect(gate.allowed).toBe(4)
    for (let i = 0; i < 5; i++) gate.shrink()
    expect(gate.allowed).toBe(1)
    for (let i = 0; i < 20; i++) gate.grow()
    expect(gate.allowed).toBe(8)
  })

  it('holds those that are inside to the new limit', async () => {
    const gate = new CallGate(2)
    const entered: string[] = []
    for (const name of ['a', 'b', 'c']) await enter(gate, gate, name, entered)

    gate.shrink()
    gate.leave()
    await setImmediate()
    expect(entered).toEqual(['a', 'b'])
    gate.leave()
    await setImmediate()

    expect(entered).toEqual(['a', 'b', 'c'])
  })

  it('removes an aborted waiter, and admits the next', async () => {
    const gate = new CallGate(1)
    const entered: string[] = []
    const impatient = new AbortController()
    await enter(gate, {}, 'a', entered)
    const waiting = gate.enter({}, impatient.signal)
    await enter(gate, {}, 'c', entered)

    impatient.abort(new Error('gone'))
    await expect(waiting).rejects.toThrow('gone')
    gate.leave()
    await setImmediate()

    expect(entered).toEqual(['a', 'c'])
    await expect(gate.enter({}, impatient.signal)).rejects.toThrow('gone')
  })
})

describe('the budget of a request', () => {
  it('refuses an amount that does not fit, and accepts a later one that fits', async () => {
    const budget = new CostBudget(10)

    await expect(budget.reserve(11)).rejects.toMatchObject({ code: 'judge_budget_exceeded' })
    await budget.reserve(10)
  })

  it('lets a call wait for released amounts', async () => {
    const budget = new CostBudget(10)
    await budget.reserve(6)
    const second = budget.reserve(6)

    budget.settle(6, 4)

    await second
    budget.settle(6, 6)
    await expect(budget.reserve(1)).rejects.toMatchObject({ code: 'judge_budget_exceeded' })
  })

  it('refuses waiting calls once no amount can be released', async () => {
    const budget = new CostBudget(10)
    await budget.reserve(6)
    const waiting = [budget.reserve(6), budget.reserve(3)]

    budget.settle(6, 6)

    const [large, small] = await Promise.allSettled(waiting)
    expect([large?.status, small?.status]).toEqual(['rejected', 'fulfilled'])
  })

  it('is never passed by calls side by side', async () => {
    const budget = new CostBudget(100)
    let spent = 0
    const call = async (cost: number) => {
      await budget.reserve(9)
      await setImmediate()
      spent += cost
      budget.settle(9, cost)
    }

    await Promise.allSettled(Array.from({ length: 60 }, (_, i) => call(i % 10)))

    expect(spent).toBeLessThanOrEqual(100)
    expect(spent).toBeGreaterThan(91)
  })
})
