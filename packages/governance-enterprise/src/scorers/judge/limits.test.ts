import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { costBudget } from './limits.ts'

describe('the budget of a request', () => {
  it('refuses an amount that does not fit, and accepts a later one that fits', async () => {
    const budget = costBudget(10)

    await expect(budget(11)).rejects.toMatchObject({ code: 'judge_budget_exceeded' })
    await budget(10)
  })

  it('lets a call wait for released amounts', async () => {
    const budget = costBudget(10)
    const settleFirst = await budget(6)
    const second = budget(6)

    await settleFirst(4)
    const settleSecond = await second
    await settleSecond(6)

    await expect(budget(1)).rejects.toMatchObject({ code: 'judge_budget_exceeded' })
  })

  it('refuses waiting calls once no amount can be released', async () => {
    const budget = costBudget(10)
    const settleFirst = await budget(6)
    const large = budget(6).catch((error: unknown) => error)
    const settleSmall = await budget(3)

    await settleFirst(6)
    await settleSmall(3)

    expect(await large).toMatchObject({ code: 'judge_budget_exceeded' })
  })

  it('is never passed by calls side by side', async () => {
    const budget = costBudget(100)
    let spent = 0
    const call = async (cost: number) => {
      const settle = await budget(9)
      await setImmediate()
      spent += cost
      await settle(cost)
    }

    await Promise.allSettled(Array.from({ length: 60 }, (_, i) => call(i % 10)))

    expect(spent).toBeLessThanOrEqual(100)
    expect(spent).toBeGreaterThan(91)
  })
})
