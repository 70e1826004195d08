import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { approved, ask, read, setRule } from '../support/approvals.ts'

const DESCRIPTION = 'Payments above 1,000 USD need an approval.'
const FAILED =
  'The condition of the rule large could not be evaluated for this request: a value that it reads is missing or not valid.'
const payment = (context: object) => ({ agent_id: 'payer', action: 'payments.transfer', context })

describe.each(someDialects())('a rule whose condition fails, on %s', (dialect) => {
  let first: Api
  let bot: Api
  beforeAll(async () => {
    first = await createApi({ dialect, clock: createClock() })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    bot = first.as(await first.remit.organization())
  })

  const amounts: [condition: string, context: object][] = [
    ['amount_usd > 1000.0', { amount_usd: -5 }],
    ['amount_usd > 1000.0', { amount_usd: '5' }],
    ['amount_usd > 1000.0', {}],
    ['context.amount_usd > 1000.0', { amount_usd: '5' }],
    ['context.amount_usd > 1000.0', {}],
  ]
  it.each(amounts)('%s is named by answer, request and entry: %j', async (condition, context) => {
    await setRule(bot, { description: DESCRIPTION, condition })

    const answer = await ask(bot, payment(context))

    expect(answer).toMatchObject({
      decision: 'needs_approval',
      message: `Approval is required: large. ${FAILED}`,
    })
    const failed = [{ rule_id: 'large', description: DESCRIPTION, condition_failed: true }]
    expect(await read(bot, answer.request_id ?? '')).toMatchObject({ requirements: failed })
    const { data } = await bot.ok('listEntries', { query: { kind: 'approval.requested' } })
    expect(data[0]?.data).toMatchObject({ approval: { requirements: failed } })
  })

  it('keeps the description of another rule that matched', async () => {
    await setRule(bot, { description: DESCRIPTION, condition: 'context.amount_usd > 1000.0' })
    await setRule(bot, { description: 'A person sees every payment.' }, 'each')

    const answer = await ask(bot, payment({ amount_usd: 'many' }))

    expect(answer.message).toBe(`A person sees every payment. ${FAILED}`)
  })

  it('is not named where the condition holds, and an approval of a failed one still counts', async () => {
    await setRule(bot, { description: DESCRIPTION, condition: 'context.amount_usd > 1000.0' })
    const holds = await ask(bot, payment({ amount_usd: 1001 }))
    expect(holds.message).toBe(DESCRIPTION)
    const { requirements } = await read(bot, holds.request_id ?? '')
    expect(requirements[0]).not.toHaveProperty('condition_failed')

    await approved(bot, payment({ amount_usd: '5' }))
    expect((await ask(bot, payment({ amount_usd: '5' }))).decision).toBe('allow')
  })
})
