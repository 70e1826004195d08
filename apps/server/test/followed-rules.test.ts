import { apiOf, createClock, createTestRemit, runs, someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, loadModules } from '../src/boot/modules.ts'
import { createEnterprise, OWNERS } from './identity/support.ts'
import { RULE_ACTS, dice } from './support/random-acts.ts'

const ROUNDS = runs(100, 25)

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
    const another = async (org = here.org): Promise<Api> => {
      const { url, signingKey } = here.remit
      const modules = await loadModules()
      return apiOf(await createTestRemit({ modules, url, signingKey, clock }), org)
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

    it.each<[string, (api: Api) => Promise<unknown>]>([
      [
        'an agent',
        (api) => api.ok('registerAgent', { body: { agent_id: 'agent_0', owners: OWNERS } }),
      ],
      [
        'its suspension',
        (api) =>
          api.ok('changeAgent', {
            params: { agentID: 'agent_0' },
            body: { status: 'suspended', suspended_reason: 'odd' },
          }),
      ],
      ['a stop', (api) => api.remit.ports.agentSwitch!.suspend(api.org.id, 'agent_1', 'test')],
      [
        'a mode',
        (api) =>
          api.ok('setAgentMode', { params: { agent_id: 'agent_2' }, body: { mode: 'granted' } }),
      ],
      [
        'a permission',
        (api) =>
          api.ok('grantPermission', {
            params: { id: 'grant_0' },
            body: { agent_id: 'agent_2', actions: ['pay.*'] },
          }),
      ],
      [
        'a spend limit',
        (api) => api.ok('setSpendLimit', { params: { id: 'agent_3' }, body: { daily_usd: 10 } }),
      ],
      [
        'a policy',
        (api) => api.ok('createPolicy', { body: { effect: 'allow', agents: ['agent_4'] } }),
      ],
      [
        'an approval rule',
        (api) =>
          api.ok('setApprovalRule', { params: { id: 'rule_0' }, body: { actions: ['mail.*'] } }),
      ],
      [
        'a setting',
        (api) => api.ok('changeOrganization', { body: { settings: { unknown_agents: 'deny' } } }),
      ],
    ])('follow %s alone', async (_, change) => {
      const before = await decisions(there)
      await change(here)
      const fresh = await another()
      const whole = await decisions(fresh)
      await fresh.remit.close()

      expect(await decisions(there)).toEqual(whole)
      expect(whole).not.toEqual(before)
    })

    it('decide like rules that are loaded as a whole, after each of many changes', async () => {
      const roll = dice(11)
      const org = await here.remit.organization()
      const seen = new Set<string>()
      for (let round = 0; round < ROUNDS; round++) {
        // Sometimes several changes lie between two decisions.
        for (let n = 0; n <= roll(3); n++)
          await RULE_ACTS[roll(RULE_ACTS.length)]!(here.as(org), roll, clock)
        const fresh = await another(org)
        const whole = await decisions(fresh)
        await fresh.remit.close()

        expect(await decisions(there.as(org)), `round ${round}`).toEqual(whole)
        for (const { reason } of whole) seen.add(reason)
      }
      // The changes mattered.
      expect(seen.size).toBeGreaterThan(5)
    }, 300_000)
  },
)
