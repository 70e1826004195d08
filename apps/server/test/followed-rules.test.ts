import { apiOf, createClock, createTestRemit, someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, loadModules } from '../src/boot/modules.ts'
import { createEnterprise } from './identity/support.ts'
import { ACTS, dice } from './support/random-acts.ts'

const ROUNDS = 100

const REQUESTS = ['agent_0', 'agent_1', 'agent_2', 'agent_3', 'agent_4', 'stranger'].flatMap(
  (agent_id) =>
    ['pay.send', 'mail.send'].flatMap((action) =>
      [0, 400].map((amount_usd) => ({ agent_id, action, context: { amount_usd } })),
    ),
)

describe.skipIf(!hasModules()).each(someDialects())(
  'rules that a process follows on %s',
  (dialect) => {
    const clock = createClock()
    let here: Api
    let there: Api
    const another = async (): Promise<Api> => {
      const { url, signingKey } = here.remit
      const modules = await loadModules()
      return apiOf(await createTestRemit({ modules, url, signingKey, clock }), here.org)
    }
    const decisions = ({ remit, org }: Api) => remit.decider.preview(org.id, 'enterprise', REQUESTS)

    beforeAll(async () => {
      here = await createEnterprise({ dialect, clock })
      there = await another()
    })
    afterAll(async () => {
      await there.remit.close()
      await here.remit.close()
    })

    it('decide like rules that are loaded as a whole, after each of many changes', async () => {
      const roll = dice(11)
      const seen = new Set<string>()
      for (let round = 0; round < ROUNDS; round++) {
        // Sometimes several changes lie between two decisions.
        for (let n = 0; n <= roll(3); n++) await ACTS[roll(ACTS.length)]!(here, roll, clock)
        const fresh = await another()
        const whole = await decisions(fresh)
        await fresh.remit.close()

        expect(await decisions(there), `round ${round}`).toEqual(whole)
        for (const { reason } of whole) seen.add(reason)
      }
      // The changes mattered.
      expect(seen.size).toBeGreaterThan(5)
    }, 300_000)
  },
)
