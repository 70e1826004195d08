import { DEFAULT_SCOPES, EXCHANGEABLE } from '@remit/contract'
import { someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { createEnterprise, issue, register } from './support.ts'

// The community edition has no credentials.
describe.skipIf(!hasModules()).each(someDialects())(
  'an agent settles its own holds, on %s',
  (dialect) => {
    let api: Api
    let agents = 0
    beforeAll(async () => {
      api = await createEnterprise({ dialect })
    })
    afterAll(() => api.remit.close())

    /** An agent under a cap of 100 USD a day, with a credential. */
    const limited = async (limit: object = {}, more: readonly 'ledger:settle'[] = []) => {
      const id = `agent-${agents++}`
      const scopes = ['authorize', 'ledger:append', ...more] as const
      await register(api, id, { allowed_scopes: scopes })
      await api.ok('setSpendLimit', { params: { id }, body: { daily_usd: 100, ...limit } })
      const { secret: key } = await issue(api, id, { scopes: [...scopes] })
      const spend = async (amount_usd: number) =>
        api.ok('authorize', {
          key,
          body: { agent_id: id, action: 'payments.pay', context: { amount_usd } },
        })
      const settling = (decision_id: string, cost_usd: number, as = key) => ({
        key: as,
        body: { action: 'payments.paid', decision_id, cost_usd },
      })
      const day = async () => (await api.ok('getSpendLimit', { params: { id } })).spent.day
      return { id, key, spend, settling, day }
    }

    it('cannot lift its own cap by settling at less than it holds', async () => {
      const { spend, settling, day } = await limited()
      const { decision_id } = await spend(100)

      for (const cost of [0, 99.999999]) {
        const problem = await api.refusal('appendEntry', settling(decision_id, cost))
        expect(problem).toMatchObject({
          code: 'scope_required',
          status: 403,
          required_scope: 'ledger:settle',
        })
      }

      expect(await day()).toMatchObject({ usd: 0, held_usd: 100 })
      expect((await spend(1)).reason).toBe('spend_limit_daily')
    })

    it('cannot release its hold, and can settle what is held without naming it', async () => {
      const { key, spend, day } = await limited()
      const { decision_id } = await spend(40)
      const settle = (how: string) => ({
        key,
        body: { action: 'payments.paid', decision_id, settle: how },
      })

      expect((await api.refusal('appendEntry', settle('release'))).code).toBe('scope_required')
      await api.ok('appendEntry', settle('held'))

      expect(await day()).toMatchObject({ usd: 40, held_usd: 0 })
    })

    it('names the scope in WWW-Authenticate', async () => {
      const { spend, settling } = await limited()
      const { decision_id } = await spend(10)

      const { headers } = await api.call('appendEntry', settling(decision_id, 1))

      expect(headers.get('www-authenticate')).toBe(
        'Bearer realm="remit", error="insufficient_scope", scope="ledger:settle"',
      )
    })

    it.each([
      ['what it holds', 10],
      ['more', 12.5],
    ])('may settle at %s', async (_, cost) => {
      const { spend, settling, day } = await limited()
      const { decision_id } = await spend(10)

      await api.ok('appendEntry', settling(decision_id, cost))

      expect(await day()).toMatchObject({ usd: cost, held_usd: 0 })
    })

    it('may settle at less with the scope ledger:settle', async () => {
      const { spend, settling, day } = await limited({}, ['ledger:settle'])
      const { decision_id } = await spend(100)

      await api.ok('appendEntry', settling(decision_id, 40))

      expect(await day()).toMatchObject({ usd: 40, held_usd: 0 })
    })

    it('may settle at less where its limit says so', async () => {
      const { spend, settling, day } = await limited({ settlement_by_agent: 'any' })
      const { decision_id } = await spend(100)

      await api.ok('appendEntry', settling(decision_id, 0))

      expect(await day()).toMatchObject({ usd: 0, held_usd: 0 })
    })

    it('leaves it to an ingest key to settle at less', async () => {
      const { spend, settling, day } = await limited()
      const { decision_id } = await spend(100)

      await api.ok('appendEntry', settling(decision_id, 0, api.org.key))

      expect(await day()).toMatchObject({ usd: 0, held_usd: 0 })
    })

    it('keeps a hold whose time has passed out of it: it keeps no room any more', async () => {
      const { spend, settling, day } = await limited({ hold_ttl_seconds: 1 })
      const { decision_id } = await spend(100)
      await new Promise((resolve) => setTimeout(resolve, 1_100))

      await api.ok('appendEntry', settling(decision_id, 30))

      expect(await day()).toMatchObject({ usd: 30, held_usd: 0 })
    })

    it('has the scope neither by default nor by token exchange', () => {
      expect(DEFAULT_SCOPES).not.toContain('ledger:settle')
      expect(EXCHANGEABLE).not.toContain('ledger:settle')
    })
  },
)
