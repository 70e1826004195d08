import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import type { Entry } from '@remit/contract'
import { TOKEN_EXCHANGE } from '@remit/contract'
import { createOutbound } from '@remit/core/net'
import { createKey } from '@remit/core/orgs'
import { createClock, startLoginProvider } from '@remit/testing'
import type { Api, CallOptions, TestClock } from '@remit/testing'
import { expect, vi } from 'vitest'
import { createEnterprise, OWNERS } from '../identity/support.ts'

/** An organization that does nearly everything once, and the entries that this leaves. */
export interface Life {
  readonly api: Api
  readonly clock: TestClock
  readonly entries: readonly Entry[]
  close(): Promise<void>
}

const HOST = 'https://gov.example'
const ISSUER = 'https://issuer.example'

/** Drives a server through a life of an organization. */
export async function live(): Promise<Life> {
  const clock = createClock()
  const first = await createEnterprise({
    clock,
    settings: { baseUrl: HOST },
    outbound: createOutbound({ allowLoopback: true }),
  })
  const key = await personal(first, 'ada@example.org', 'admin')
  const api = first.as({ ...first.org, key })
  await rulesOf(api)
  await agentsOf(api, clock)
  await approvalsOf(api, clock)
  await federationOf(api, clock)
  await restOf(api)
  return { api, clock, entries: await entriesOf(api), close: () => api.remit.close() }
}

const personal = async (api: Api, person: string, role: 'admin' | 'approver'): Promise<string> =>
  (await createKey(api.remit.writer, api.org.id, { role, person })).secret

async function entriesOf(api: Api): Promise<Entry[]> {
  const entries: Entry[] = []
  let cursor: string | null = null
  do {
    const query: Record<string, string> = { order: 'asc', limit: '500', ...(cursor && { cursor }) }
    const page = await api.ok('listEntries', { query })
    entries.push(...page.data)
    cursor = page.next_cursor
  } while (cursor !== null)
  return entries
}

const decide = (api: Api, action: string, more: object = {}, key?: string) =>
  api.ok('authorize', {
    body: { agent_id: 'payer', action, ...more },
    ...(key !== undefined && { key }),
  })

async function rulesOf(api: Api): Promise<void> {
  await api.ok('changeOrganization', { body: { settings: { four_eyes: false } } })
  const { id: policyID } = await api.ok('createPolicy', {
    body: { effect: 'deny', actions: ['x.*'] },
  })
  await decide(api, 'x.y')
  await api.ok('replacePolicy', {
    params: { policyID },
    headers: { 'if-match': '"1"' },
    body: { effect: 'deny', actions: ['payments.*'], change_reason: 'narrower' },
  })
  await api.ok('deletePolicy', { params: { policyID }, query: { change_reason: 'unused' } })
  const params = { id: 'payer' }
  await api.ok('setSpendLimit', { params, body: { daily_usd: 10 } })
  await decide(api, 'pay', { context: { amount_usd: 6 } })
  await api.ok('removeSpendLimit', { params })
  const budget = { params: { id: 'payments' } }
  await api.ok('setBudget', { ...budget, body: { unit: 'usd', window: 'day', limit: 10 } })
  await decide(api, 'pay', { context: { amount_usd: 6 } })
  await api.ok('removeBudget', budget)
  const permission = { params: { id: 'grant' } }
  await api.ok('grantPermission', { ...permission, body: { agent_id: 'payer', actions: ['*'] } })
  await api.ok('revokePermission', permission)
  await api.ok('setAgentMode', { params: { agent_id: 'payer' }, body: { mode: 'open' } })
  await api.ok('dryRunPolicies', { body: { agent_id: 'payer', action: 'x.y' } })
  const { agentSwitch } = api.remit.ports
  await agentSwitch!.suspend(api.org.id, 'stray', 'odd')
  await agentSwitch!.resume(api.org.id, 'stray')
}

async function agentsOf(api: Api, clock: TestClock): Promise<void> {
  await api.ok('registerAgent', { body: { agent_id: 'payer', owners: OWNERS } })
  const params = { agentID: 'payer' }
  await api.ok('changeAgent', { params, body: { name: 'Payer' } })
  await api.ok('changeAgent', { params, body: { status: 'suspended', suspended_reason: 'odd' } })
  await api.ok('changeAgent', { params, body: { status: 'active' } })
  const issued = { params, body: { scopes: ['authorize'] } }
  const { credential } = await api.ok('issueCredential', issued)
  const rotate = { credential_id: credential.id }
  const { credential: next, secret } = await api.ok('issueCredential', { params, body: { rotate } })
  await api.ok('revokeCredential', { params: { credID: next.id } })
  await api.call('authorize', {
    body: { agent_id: 'payer', action: 'x' },
    ...(secret !== null && { key: secret }),
  })
  await recorded(api, 'credential.refused')
  await api.ok('registerAgent', { body: { agent_id: 'gone', owners: OWNERS } })
  await api.ok('removeAgent', { params: { agentID: 'gone' } })
  const trusting = { effect: 'allow', source_agents: ['payer'] }
  const { id: policyID } = await api.ok('createTrustPolicy', { body: trusting })
  await api.ok('evaluateTrust', {
    body: { source_agent_id: 'payer', target_agent_id: 'payer', action: 'order' },
  })
  await api.ok('deleteTrustPolicy', { params: { policyID } })
  clock.advance(1000)
}

async function approvalsOf(api: Api, clock: TestClock): Promise<void> {
  const body = { actions: ['big'], required_approvals: 2, request_ttl_seconds: 60 }
  const rule = { params: { id: 'big' } }
  await api.ok('setApprovalRule', { ...rule, body })
  const voters = [
    await personal(api, 'bo@example.org', 'approver'),
    await personal(api, 'cy@example.org', 'approver'),
  ]
  const ask = async (n: number) => (await decide(api, 'big', { context: { n } })).approval!.id
  const vote = async (requestID: string) => {
    for (const key of voters)
      await api.ok('decideApproval', { params: { requestID }, body: { decision: 'approve' }, key })
  }
  await vote(await ask(1))
  await decide(api, 'big', { context: { n: 1 } })
  const taken = await ask(2)
  await vote(taken)
  await api.ok('revokeApproval', { params: { id: taken }, key: voters[0]! })
  await api.ok('cancelApproval', { params: { id: await ask(3) } })
  await ask(4)
  clock.advance(61_000)
  await recorded(api, 'approval.expired', 15_000)
  await api.ok('removeApprovalRule', rule)
}

async function federationOf(api: Api, clock: TestClock): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'k1', use: 'sig' }]
  const terms = {
    issuer: ISSUER,
    jwks: { type: 'inline', keys },
    conditions: [{ claim: 'env', equals: 'prod' }],
    agent: { type: 'claim', claim: 'agent' },
    scopes: ['authorize'],
  }
  const { id } = await api.ok('trustIssuer', { body: terms })
  const federation = { issuers: [id], subjects: [] }
  await api.ok('changeAgent', { params: { agentID: 'payer' }, body: { federation } })
  const exchange = (env: string) => {
    const now = Math.floor(clock.now() / 1000)
    const claims = { iss: ISSUER, aud: `${HOST}/v1/identity/token`, sub: 'w', jti: randomUUID() }
    const token = { ...claims, iat: now, exp: now + 300, env, agent: 'payer' }
    const signed = [{ alg: 'ES256', kid: 'k1', typ: 'JWT' }, token]
      .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    const signature = sign('sha256', Buffer.from(signed), {
      key: privateKey,
      dsaEncoding: 'ieee-p1363',
    })
    const subject_token = `${signed}.${signature.toString('base64url')}`
    const subject_token_type = 'urn:ietf:params:oauth:token-type:jwt'
    const body = { grant_type: TOKEN_EXCHANGE, subject_token, subject_token_type }
    return api.call('exchangeToken', { body })
  }
  expect((await exchange('prod')).status).toBe(200)
  expect((await exchange('test')).status).toBe(400)
  await api.ok('removeIssuer', { params: { idpID: id } })
}

async function hostsOf(api: Api): Promise<void> {
  const report = async (description: string) => {
    const tools = [{ name: 'read', description }]
    const { data } = await api.ok('reportMcpTools', { body: { upstream: 'files', tools } })
    return data[0]!
  }
  const { id, digest } = await report('Reads a file')
  await api.ok('admitMcpTool', { params: { id }, body: { digest } })
  await api.ok('reviewMcpTool', { params: { id }, body: { digest } })
  await report('Reads any file')
  await api.ok('withdrawMcpTool', { params: { id } })
  await api.ok('reportInventory', { body: { host: 'a', items: [], unread: [] } })
}

async function restOf(api: Api): Promise<void> {
  await hostsOf(api)
  const body = { email: 'ada@example.org', role: 'read' }
  const params = { id: (await api.ok('invitePerson', { body })).id }
  await api.ok('changePerson', { params, body: { role: 'approver' } })
  await api.ok('changePerson', { params, body: { status: 'disabled' } })
  await api.ok('removePerson', { params })
  const provider = await startLoginProvider()
  const own = { issuer: provider.issuer, client_id: 'remit', client_secret: null }
  await api.ok('setLoginProvider', { body: own })
  await api.ok('removeLoginProvider')
  await provider.close()
  const webhook = { url: 'https://hooks.example/x?token=1', events: ['approval.requested'] }
  const { id } = await api.ok('createWebhook', { body: webhook })
  await api.call('testWebhook', { params: { id } })
  await api.ok('deleteWebhook', { params: { id } })
  const target = { url: 'https://logs.example/in', headers: { authorization: 'Bearer secret' } }
  const sink = { id: (await api.ok('createSink', { body: { type: 'https', target } })).id }
  await api.ok('changeSink', { params: sink, body: { enabled: false } })
  await api.ok('deleteSink', { params: sink })
  await api.ok('checkContent', { body: { content: 'Write to kim@mail.example today.' } })
  await api.ok('runScorer', {
    body: { scorer: 'exact_match', results: [{ output: 'a', expected: 'a' }] },
  })
  await api.ok('appendEntry', { body: { action: 'mail.sent' } })
  await api.ok('appendEntry', { body: { action: 'mail.sent', decision_id: null } })
  await decide(api, 'remit.selftest.deny')
  const { key } = await api.ok('createKey', { body: { role: 'read' } } satisfies CallOptions)
  await api.ok('revokeKey', { params: { id: key.id } })
  await api.ok('verifyLedger', { body: {} })
}

/** Waits for an entry that nobody is told of. */
const recorded = (api: Api, kind: string, timeout = 30_000): Promise<void> =>
  vi.waitFor(
    async () => {
      const { data } = await api.ok('listEntries', { query: { kind } })
      if (data.length === 0) throw new Error(`there is no ${kind}`)
    },
    { timeout, interval: 100 },
  )
