import { setPlan } from '@remit/core/orgs'
import { createClock, prune, someDialects } from '@remit/testing'
import type { Api, TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { createEnterprise } from '../identity/support.ts'
import { ACTS, dice } from '../support/random-acts.ts'
import { carriedOf, folded, listed, rowsOf } from './folded-state.ts'
import type { Setup } from './folded-state.ts'

const DAY_MS = 86_400_000

interface Moment {
  readonly to: number
  readonly live: Setup
}

describe.skipIf(!hasModules()).each(someDialects())(
  'state folded from entries on %s',
  (dialect) => {
    let api: Api
    let clock: TestClock
    const moments: Moment[] = []
    beforeAll(async () => {
      clock = createClock()
      api = await createEnterprise({ dialect, clock })
      const roll = dice(6)
      const look = async () => {
        // Up to here, and nothing that comes later.
        clock.advance(1)
        moments.push({ to: clock.now(), live: await listed(api) })
      }
      for (let n = 1; n <= 240; n++) {
        await ACTS[roll(ACTS.length)]!(api, roll, clock)
        if (n % 30 === 0) await look()
      }
      await setPlan(api.remit.writer, api.org.id, 'team')
      await setPlan(api.remit.writer, api.org.id, 'enterprise')
      await look()
    }, 300_000)
    afterAll(() => api.remit.close())

    it('and was at every moment what the API listed then', async () => {
      const rows = await rowsOf(api)
      for (const { to, live } of moments) expect(await folded(rows, api.org.id, to)).toEqual(live)
    })

    it('with something of every kind', () => {
      for (const name of Object.keys(moments[0]!.live)) {
        const sizes = moments.map(({ live }) => Object.keys(live[name] as object).length)
        expect(Math.max(...sizes), name).toBeGreaterThan(0)
      }
    })

    it('and from what is carried over, once they are pruned, twice', async () => {
      // Requests that were closed are listed for ever, and not carried over.
      const withoutApprovals = ({ approvals: _approvals, ...setup }: Setup): Setup => setup
      const size = (await rowsOf(api)).length
      for (const round of [1, 2]) {
        clock.advance(401 * DAY_MS)
        await api.call('createPolicy', { body: { effect: 'deny', actions: [`round.${round}`] } })
        clock.advance(60_000)
        await api.call('setSpendLimit', { params: { id: 'late' }, body: { daily_usd: round } })
        const { plan } = await prune(api, clock)
        clock.advance(1)

        const rows = await rowsOf(api)
        const state = await folded(rows, api.org.id, clock.now(), await carriedOf(api))

        expect(plan.cut).toBeGreaterThan(size - 30)
        expect(rows[0]!.seq).toBe(plan.cut)
        expect(withoutApprovals(state)).toEqual(withoutApprovals(await listed(api)))
      }
    })
  },
)
