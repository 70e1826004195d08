import type { Overlay } from '@remit/core/decision'
import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'
import { decide } from './support/approvals.ts'
import { dump } from './support/dump.ts'

describe.each(someDialects())('a preview on %s', (dialect) => {
  let all: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock()
    all = await createApi({ dialect, clock })
  })
  afterAll(() => all.remit.close())

  it('sees as of its time whether an approval can still be used', async () => {
    const api = all.as(await all.remit.organization())
    const body = { agent_id: 'a', action: 'pay.send' }
    await api.ok('setApprovalRule', { params: { id: 'all' }, body: { approval_ttl_seconds: 60 } })
    const { approval } = await api.ok('authorize', { body })
    await decide(api, approval?.id ?? '')
    const after = async (seconds: number) => {
      const at = clock.now() + seconds * 1000
      const [one] = await api.remit.decider.preview(api.org.id, 'enterprise', [body], { at })
      return one?.decision
    }

    const decisions = [await after(0), await after(59), await after(60), await after(0)]

    expect(decisions).toEqual(['allow', 'allow', 'needs_approval', 'allow'])
  })

  it('tries rules that are not there, and does without rules that are', async () => {
    const api = all.as(await all.remit.organization())
    const body = { agent_id: 'a', action: 'pay.send', context: { amount: 4 } }
    const { id } = await api.ok('createPolicy', { body: { effect: 'deny', actions: ['pay.*'] } })
    const stricter = { effect: 'deny', condition: 'context.amount > 3.0' }
    const tried = async (overlay?: Overlay) => {
      const options = overlay ? { overlay } : {}
      const [one] = await api.remit.decider.preview(api.org.id, 'enterprise', [body], options)
      return [one?.decision, one?.trace.at(-1)?.matched?.length ?? 0]
    }
    const before = await dump(api.remit.db, api.org.id)

    expect(await tried()).toEqual(['deny', 1])
    expect(await tried({ add: [], remove: [id] })).toEqual(['allow', 0])
    expect(await tried({ add: [stricter], remove: [id] })).toEqual(['deny', 1])
    const wrong = { ...stricter, condition: 'context.amount >' }
    await expect(tried({ add: [wrong], remove: [] })).rejects.toMatchObject({
      code: 'invalid_request',
    })
    expect(await dump(api.remit.db, api.org.id)).toEqual(before)
    expect(await api.ok('authorize', { body })).toMatchObject({ decision: 'deny' })
  })

  it('concurrent with decisions that release the same holds, all are answered', async () => {
    const api = all.as(await all.remit.organization())
    const agents = ['a', 'b', 'c', 'd']
    const asks = agents.map((agent_id) => ({ agent_id, action: 'x', context: { amount: 1 } }))
    for (const id of agents)
      await api.ok('setSpendLimit', { params: { id }, body: { daily_usd: 9, hold_ttl_seconds: 1 } })
    const decideAll = () => Promise.all(asks.map((body) => api.ok('authorize', { body })))
    const previewAll = () => api.remit.decider.preview(api.org.id, 'enterprise', asks)
    const decisions = new Set<string>()

    for (let round = 0; round < 10; round++) {
      const made = await Promise.all([decideAll(), previewAll(), decideAll(), previewAll()])
      for (const { decision } of made.flat()) decisions.add(decision)
      clock.advance(1_001)
    }

    expect([...decisions]).toEqual(['allow'])
  })
})
