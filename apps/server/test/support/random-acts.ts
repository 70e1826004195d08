import { generateKeyPairSync } from 'node:crypto'
import type { Api, TestClock } from '@remit/testing'
import { OWNERS } from '../identity/support.ts'

/** The same numbers in every run. */
export function dice(seed: number): (sides: number) => number {
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
export const ACTS: readonly Act[] = [
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

/** With changes that decide about whole agents. */
export const RULE_ACTS: readonly Act[] = [
  ...ACTS,
  (api, roll) => {
    const params = { agent_id: agentOf(roll) }
    return api.call('setAgentMode', { params, body: { mode: ['open', 'granted'][roll(2)] } })
  },
  (api, roll) => {
    const settings = [
      { unknown_agents: 'deny' },
      { unknown_agents: null },
      { four_eyes: true },
      { require_agent_credentials: false },
    ][roll(4)]
    return api.call('changeOrganization', { body: { settings } })
  },
]
