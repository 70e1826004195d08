import { someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { createEnterprise, issue, register } from './support.ts'

// The community edition has no agents with labels.
describe.skipIf(!hasModules()).each(someDialects())(
  'budgets of registered agents on %s',
  (dialect) => {
    let all: Api
    let api: Api
    beforeAll(async () => {
      all = await createEnterprise({ dialect })
    })
    beforeEach(async () => {
      api = all.as(await all.remit.organization('enterprise'))
    })
    afterAll(() => all.remit.close())

    const set = (id: string, more: object = {}) =>
      api.ok('setBudget', {
        params: { id },
        body: { unit: 'usd', window: 'day', limit: 10, ...more },
      })
    const pay = (agent_id: string, amount_usd: number, key?: string) =>
      api.ok('authorize', {
        ...(key !== undefined && { key }),
        body: { agent_id, action: 'payments.pay', context: { amount_usd } },
      })
    const usage = async (id: string) => {
      const { used, held } = (await api.ok('getBudget', { params: { id } })).usage ?? {}
      return [used, held]
    }

    it('a team is a label of the registry, and a change of it counts at once', async () => {
      await register(api, 'one', { labels: { team: 'finance' } })
      await register(api, 'two', { labels: { team: 'finance' } })
      await register(api, 'three', { labels: { team: 'sales' } })
      expect((await set('finance', { match: { labels: { team: ['finance'] } } })).warnings).toEqual(
        [],
      )
      await pay('one', 6)

      expect((await pay('two', 6)).decision).toBe('deny')
      expect((await pay('three', 6)).decision).toBe('allow')
      expect((await pay('unregistered', 6)).decision).toBe('allow')
      await api.ok('changeAgent', {
        params: { agentID: 'three' },
        body: { labels: { team: 'finance' } },
      })
      expect((await pay('three', 6)).decision).toBe('deny')
      await api.ok('changeAgent', {
        params: { agentID: 'two' },
        body: { labels: { team: 'sales' } },
      })
      expect((await pay('two', 6)).decision).toBe('allow')
    })

    it('each value of a label has the limit for itself, and agents without it share one', async () => {
      await register(api, 'one', { labels: { team: 'finance' } })
      await register(api, 'two', { labels: { team: 'sales' } })
      await register(api, 'three', {})
      await set('teams', { per: 'label:team' })
      for (const agent of ['one', 'two', 'three'])
        expect((await pay(agent, 7)).decision).toBe('allow')
      expect((await pay('unregistered', 7)).decision).toBe('deny')

      const { data } = await api.ok('getBudgetUsage', { params: { id: 'teams' } })
      expect(data.map(({ value, held }) => [value, held])).toEqual([
        [null, 7],
        ['finance', 7],
        ['sales', 7],
      ])
    })

    /** An agent with a credential. */
    const agent = async (id: string, more: readonly ('ledger:settle' | 'spend:read')[] = []) => {
      const scopes = ['authorize', 'ledger:append', ...more] as const
      await register(api, id, { allowed_scopes: scopes })
      return (await issue(api, id, { scopes: [...scopes] })).secret
    }
    const settling = (decision_id: string, key: string, more: object) => ({
      key,
      body: { action: 'payments.paid', decision_id, ...more },
    })

    it('an agent settles below its hold only where all budgets of the path say so', async () => {
      const key = await agent('payer')
      await set('own', { settlement_by_agent: 'any', match: { agents: ['payer'] } })
      await set('tokens', { unit: 'tokens', settlement_by_agent: 'any' })
      const first = await pay('payer', 4, key)
      await api.ok('appendEntry', settling(first.decision_id, key, { cost_usd: 1 }))
      expect(await usage('own')).toEqual([1, 0])

      await set('company')
      const second = await pay('payer', 4, key)
      const less = settling(second.decision_id, key, { cost_usd: 1 })
      expect(await api.refusal('appendEntry', less)).toMatchObject({ code: 'scope_required' })
      await api.ok('appendEntry', settling(second.decision_id, key, { cost_usd: 4 }))
      expect(await usage('company')).toEqual([4, 0])
    })

    it("a spend limit that lets it settle freely still leaves the company's budget at the hold", async () => {
      const key = await agent('payer')
      await set('company')
      await set('own', { settlement_by_agent: 'any', match: { agents: ['payer'] } })
      const limit = { daily_usd: 50, settlement_by_agent: 'any' }
      await api.ok('setSpendLimit', { params: { id: 'payer' }, body: limit })
      const { decision_id } = await pay('payer', 4, key)

      await api.ok('appendEntry', settling(decision_id, key, { cost_usd: 1 }))

      expect(await usage('company')).toEqual([4, 0])
      expect(await usage('own')).toEqual([1, 0])
      const { spent } = await api.ok('getSpendLimit', { params: { id: 'payer' } })
      expect(spent.day).toMatchObject({ usd: 1, held_usd: 0 })
    })

    it('with the scope ledger:settle it settles at any amount', async () => {
      const key = await agent('payer', ['ledger:settle'])
      await set('company')
      const { decision_id } = await pay('payer', 4, key)
      await api.ok('appendEntry', settling(decision_id, key, { settle: 'release' }))
      expect(await usage('company')).toEqual([0, 0])
    })

    it('a credential reads the budgets that match its agent, and no others', async () => {
      const key = await agent('payer', ['spend:read'])
      await set('company')
      await set('other', { match: { agents: ['writer'] } })
      expect((await api.ok('listBudgets', { key })).data.map(({ id }) => id)).toEqual(['company'])
      expect((await api.ok('getBudget', { key, params: { id: 'company' } })).limit).toBe(10)
      expect(await api.refusal('getBudget', { key, params: { id: 'other' } })).toMatchObject({
        code: 'budget_not_found',
      })
      const usageOf = { key, params: { id: 'company' } }
      expect((await api.call('getBudgetUsage', usageOf)).status).toBe(403)
    })
  },
)
