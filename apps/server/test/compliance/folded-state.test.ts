import { generateKeyPairSync } from 'node:crypto'
import { setPlan } from '@remit/core/orgs'
import { createClock, prune, someDialects } from '@remit/testing'
import type { Api, TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { createEnterprise, OWNERS } from '../identity/support.ts'
import { carriedOf, folded, listed, rowsOf, scanned } from './folded-state.ts'
import type { Setup } from './folded-state.ts'

/** The same numbers in every run. */
function dice(seed: number): (sides: number) => number {
  let state = seed
  return (sides) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return (state >>> 8) % sides
  }
}

const jwk = (): object => ({
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({ format: 'jwk' }),
  kid: 'k1',
  use: 'sig',
})

type Roll = (sides: number) => number
type Act = (api: Api, roll: Roll, clock: TestClock) => Promise<unknown>

const agentOf = (roll: Roll) => `agent_${roll(5)}`
const idsOf = async (api: Api, name: 'listPolicies' | 'listTrustPolicies' | 'listIssuers') =>
  (await api.ok(name)).data.map(({ id }) => id)

/** Actions of people, agents and the operator. Many are refused and change nothing. */
const ACTS: readonly Act[] = [
  (api, roll) => api.call('registerAgent', { body: { agent_id: agentOf(roll), owners: OWNERS } }),
  (api, roll) => {
    const params = { agentID: agentOf(roll) }
    const bodies = [
      { name: `Agent ${roll(100)}` },
      { labels: { team: `t${roll(9)}` } },
      { status: 'suspended', suspended_reason: 'odd' },
      { status: 'active' },
      { status: 'active', description: 'again' },
    ]
    return api.call('changeAgent', { params, body: bodies[roll(bodies.length)] })
  },
  (api, roll) =>
    roll(3) === 0
      ? api.call('removeAgent', { params: { agentID: agentOf(roll) } })
      : Promise.resolve(),
  (api, roll) => {
    const body = { scopes: ['authorize'], ttl_seconds: [60, 3600, 86_400][roll(3)] }
    return api.call('issueCredential', { params: { agentID: agentOf(roll) }, body })
  },
  async (api, roll) => {
    const params = { agentID: agentOf(roll) }
    const found = await api.call('listCredentials', { params, query: { status: 'active' } })
    const { data = [] } = (await found.json()) as { data?: { id: string }[] }
    const [first] = data
    if (!first) return
    const rotate = { credential_id: first.id, overlap_seconds: 600 }
    if (roll(2) === 0) await api.call('issueCredential', { params, body: { rotate } })
    else await api.call('revokeCredential', { params: { credID: first.id } })
  },
  async (api, roll) => {
    const body = {
      effect: ['allow', 'deny'][roll(2)],
      actions: [['pay.*'], ['mail.*'], ['*']][roll(3)],
      enabled: roll(3) > 0,
      expires_at: roll(2) === 0 ? null : '2026-12-01T00:00:00Z',
    }
    const [first] = await idsOf(api, 'listPolicies')
    if (roll(3) > 0 || !first) await api.call('createPolicy', { body })
    else await api.call('deletePolicy', { params: { policyID: first } })
  },
  (api, roll) => {
    const id = `grant_${roll(4)}`
    const body = {
      agent_id: agentOf(roll),
      effect: ['allow', 'deny'][roll(2)],
      actions: [['pay.*'], ['mail.send']][roll(2)],
      description: `d${roll(9)}`,
    }
    return roll(4) > 0
      ? api.call('grantPermission', { params: { id }, body })
      : api.call('revokePermission', { params: { id } })
  },
  (api, roll) => {
    const params = { id: `rule_${roll(2)}` }
    const body = { actions: ['pay.*'], request_ttl_seconds: 3600, enabled: roll(4) > 0 }
    return roll(4) > 0
      ? api.call('setApprovalRule', { params, body })
      : api.call('removeApprovalRule', { params })
  },
  (api, roll) => {
    const params = { id: agentOf(roll) }
    const body = { daily_usd: roll(1000) / 8, monthly_usd: roll(2) === 0 ? null : 5000 }
    return roll(4) > 0
      ? api.call('setSpendLimit', { params, body })
      : api.call('removeSpendLimit', { params })
  },
  async (api, roll) => {
    const [first] = await idsOf(api, 'listTrustPolicies')
    const body = { effect: 'allow', source_agents: [agentOf(roll)], enabled: roll(2) === 0 }
    if (roll(3) > 0 || !first) await api.call('createTrustPolicy', { body })
    else await api.call('deleteTrustPolicy', { params: { policyID: first } })
  },
  async (api, roll) => {
    const [first] = await idsOf(api, 'listIssuers')
    const body = {
      issuer: `https://issuer${roll(9)}.example`,
      audiences: ['remit'],
      jwks: { type: 'inline', keys: [jwk()] },
      conditions: [{ claim: 'env', equals: 'prod' }],
      agent: { type: 'claim', claim: 'agent' },
    }
    if (roll(3) > 0 || !first) await api.call('trustIssuer', { body })
    else await api.call('removeIssuer', { params: { idpID: first } })
  },
  async (api, roll) => {
    const { data } = await api.ok('listKeys')
    const live = data.find(({ revoked_at: at, role }) => at === null && role === 'read')
    if (roll(2) === 0 || !live) await api.call('createKey', { body: { role: 'read' } })
    else await api.call('revokeKey', { params: { id: live.id } })
  },
  (api, roll) => {
    const settings = [
      { default_effect: 'deny' },
      { default_effect: null },
      { consequential_actions: ['data.*'] },
    ][roll(3)]
    return api.call('changeOrganization', { body: { settings } })
  },
  (api, roll) =>
    api.call('authorize', {
      body: {
        agent_id: agentOf(roll),
        action: ['pay.send', 'mail.send'][roll(2)],
        context: { amount_usd: roll(50), n: roll(3) },
      },
    }),
  async (api, roll) => {
    const { data } = await api.ok('listApprovals')
    const one = data.find(({ status }) => status === 'pending')
    if (!one) return
    const requestID = one.id
    const decision = ['approve', 'reject'][roll(2)]
    const body = { decision, approver: 'bo@example.org' }
    if (roll(4) === 0) await api.call('cancelApproval', { params: { id: requestID } })
    else await api.call('decideApproval', { params: { requestID }, body })
  },
  (_api, roll, clock) => {
    clock.advance(roll(3600) * 1000)
    return Promise.resolve()
  },
]

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

    it('and decisions are laid out as the fold reads them fast', async () => {
      const { known, of } = await scanned(await rowsOf(api))
      expect(of).toBeGreaterThan(5)
      expect(known).toBe(of)
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
