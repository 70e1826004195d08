import { createSecretKey, randomBytes } from 'node:crypto'
import { createKey } from '@remit/core/orgs'
import { createOutbound } from '@remit/core/net'
import { SECRETS_KEY_BYTES } from '@remit/core/secrets'
import {
  apiOf,
  createTestRemit,
  LOGIN_BASE,
  LoginBrowser,
  oidcSettings,
  readyReport,
  startLoginProvider,
} from '@remit/testing'
import type { Api, LoginProvider, TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules, loadModules } from '../src/boot/modules.ts'

describe.skipIf(!hasModules())('changes of rules that people approve', () => {
  let provider: LoginProvider
  let remit: TestRemit
  let api: Api
  beforeAll(async () => {
    provider = await startLoginProvider([LOGIN_BASE])
    for (const name of ['ada', 'bob', 'eve'])
      provider.accounts.set(name, { email: `${name}@example.org`, email_verified: true, name })
    remit = await createTestRemit({
      modules: await loadModules(),
      outbound: createOutbound({ allowLoopback: true }),
      secretsKeys: [createSecretKey(randomBytes(SECRETS_KEY_BYTES))],
      settings: { oidc: oidcSettings(provider) },
    })
    api = apiOf(remit, await remit.organization())
  })
  afterAll(async () => {
    await remit.close()
    await provider.close()
  })

  const signIn = async (name: string, role: 'admin' | 'approver') => {
    const { id } = await api.ok('invitePerson', { body: { email: `${name}@example.org`, role } })
    provider.subject = name
    const browser = new LoginBrowser(remit)
    await browser.open('/console/login', ({ pathname }) => pathname === '/console')
    const send = async (method: string, path: string, body: object) => {
      const response = await browser.api(method, path, body)
      const answer = (await response.json()) as { secret?: string; approval?: { id: string } }
      return { ...answer, status: response.status }
    }
    return { id, send }
  }

  const policy = (actions: string[]) => ({
    apiVersion: 'remit.dev/v1' as const,
    kind: 'Policy' as const,
    name: 'allowed',
    spec: { effect: 'allow' as const, actions },
  })

  test('a person counts as one with their sessions, their keys, and the keys that these created', async () => {
    const ada = await signIn('ada', 'admin')
    const bob = await signIn('bob', 'approver')
    const hostKey = async (role: 'admin' | 'approver') =>
      (await createKey(remit.writer, api.org.id, { role, person: 'Ada@example.org' })).secret
    const own = await hostKey('admin')
    const ofKey = await api.ok('createKey', { body: { role: 'approver' }, key: own })
    const ofSession = await ada.send('POST', '/v1/keys', { role: 'approver' })
    await api.ok('changeOrganization', {
      body: { settings: { rule_changes: 'approve_weakening' } },
    })

    const documents = [policy(['pay'])]
    const params = { id: 'main' }
    const { plan_digest } = await api.ok('planPolicySet', { params, body: { documents } })
    const body = { documents, plan_digest }
    const vote = (id: string, key: string) =>
      api
        .call('decideApproval', { params: { requestID: id }, body: { decision: 'approve' }, key })
        .then(({ status }) => status)
    const keys = [own, await hostKey('approver'), ofKey.secret ?? '', ofSession.secret ?? '']
    const asked = await ada.send('POST', '/v1/policy-sets/main/apply', body)
    expect(asked.status).toBe(202)
    const id = asked.approval?.id ?? ''
    for (const key of keys) expect(await vote(id, key)).toBe(403)

    // As another person, with the same keys.
    await api.call('removePerson', { params: { id: ada.id } })
    const again = await signIn('ada', 'admin')
    expect((await again.send('POST', '/v1/policy-sets/main/apply', body)).status).toBe(202)
    for (const key of keys) expect(await vote(id, key)).toBe(403)
    expect((await again.send('POST', `/v1/approvals/${id}/cancel`, {})).status).toBe(200)

    const { approval } = await again.send('POST', '/v1/policy-sets/main/apply', body)
    const next = approval?.id ?? ''
    for (const key of keys) expect(await vote(next, key)).toBe(403)
    const decided = await bob.send('POST', `/v1/approvals/${next}/decide`, { decision: 'approve' })
    expect(decided.status).toBe(200)
    expect((await again.send('POST', '/v1/policy-sets/main/apply', body)).status).toBe(200)
  })

  test('a vote in the name of a person counts as theirs, also through a key without a person', async () => {
    const eve = await signIn('eve', 'admin')
    const ofSession = await eve.send('POST', '/v1/keys', { role: 'admin' })
    const documents = [policy(['pay', 'refund'])]
    const params = { id: 'main' }
    const { plan_digest } = await api.ok('planPolicySet', { params, body: { documents } })
    const asked = await api.call('applyPolicySet', {
      params,
      body: { documents, plan_digest },
      key: ofSession.secret ?? '',
    })
    const { approval } = (await asked.json()) as { approval: { id: string } }
    const key = (await createKey(remit.writer, api.org.id, { role: 'approver' })).secret
    const vote = async (approver: string) => {
      const body = { decision: 'approve', approver }
      return (await api.call('decideApproval', { params: { requestID: approval.id }, body, key }))
        .status
    }
    expect(await vote('Eve@example.org')).toBe(403)
    expect(await vote('mallory@example.org')).toBe(200)
  })

  test('trust policies are rules too', async () => {
    const trust = { source_agents: ['a'], target_agents: ['b'], actions: ['c'] }
    const refused = { status: 409, code: 'change_requires_approval' }
    expect(
      await api.refusal('createTrustPolicy', { body: { ...trust, effect: 'allow' } }),
    ).toMatchObject(refused)
    const { id: policyID } = await api.ok('createTrustPolicy', {
      body: { ...trust, effect: 'deny' },
    })
    expect(await api.refusal('deleteTrustPolicy', { params: { policyID } })).toMatchObject(refused)
  })

  test('suspending an agent is direct, also under approve_all and beside a locked set', async () => {
    const own = apiOf(remit, await remit.organization())
    await createKey(remit.writer, own.org.id, { role: 'approver' })
    const owners = [{ type: 'user' as const, id: 'ada', email: 'ada@example.org' }]
    await own.ok('registerAgent', { body: { agent_id: 'payer', owners } })
    const params = { id: 'main' }
    const of = { apiVersion: 'remit.dev/v1', name: 'payer' } as const
    const documents = [
      { ...of, kind: 'Permission' as const, spec: { agent_id: 'payer' } },
      { ...of, kind: 'AgentMode' as const, spec: { agent_id: 'payer', mode: 'granted' as const } },
    ]
    const { plan_digest } = await own.ok('planPolicySet', { params, body: { documents } })
    await own.ok('applyPolicySet', { params, body: { documents, plan_digest } })
    await own.ok('lockPolicySet', { params, body: { locked: true } })
    await own.ok('changeOrganization', { body: { settings: { rule_changes: 'approve_all' } } })
    const decide = async () => {
      const { decision } = await own.ok('authorize', { body: { agent_id: 'payer', action: 'pay' } })
      return decision
    }
    expect(await decide()).toBe('allow')
    await own.ok('changeAgent', { params: { agentID: 'payer' }, body: { status: 'suspended' } })
    expect(await decide()).toBe('deny')
    expect((await own.ok('getPolicySet', { params })).drift).toEqual([])
  })

  test('a report shows the plan, the request, its votes and the applied set', async () => {
    const to = new Date().toISOString()
    const { id, content } = await readyReport(api, { framework: 'soc2', to })
    const found = new Set<string>()
    for (const control of content.controls) {
      const query = { control: control.id, limit: 1000 }
      const { data } = await api.ok('listReportEvidence', { params: { id }, query })
      for (const { kind } of data) found.add(kind)
    }
    expect([...found]).toEqual(
      expect.arrayContaining([
        'policy.dry_run',
        'approval.requested',
        'approval.decided',
        'approval.consumed',
        'policy.created',
        'policy_set.applied',
      ]),
    )
  })
})
