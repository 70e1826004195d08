import type { EndpointName } from '@remit/contract'
import { createClock, someDialects } from '@remit/testing'
import type { Api, CallOptions, TestClock } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { createEnterprise, issue, register } from './support.ts'

type Door = readonly [EndpointName, (agent: string) => CallOptions]

const evaluation = (id: string) => ({
  subject: { type: 'agent', id },
  action: { name: 'a.b' },
  resource: { type: 'x', id: '1' },
})

/** Endpoints whose callers can be known from memory. */
const WRITING: readonly Door[] = [
  ['authorize', (agent_id) => ({ body: { agent_id, action: 'a.b' } })],
  ['accessEvaluation', (agent) => ({ body: evaluation(agent) })],
  ['accessEvaluations', (agent) => ({ body: { evaluations: [evaluation(agent)] } })],
  ['appendEntry', (agent_id) => ({ body: { action: 'a.b', agent_id } })],
  ['appendEntry', (actor) => ({ body: { action: 'a.b', actor } })],
  ['evaluateTrust', (agent) => ({ body: trust(agent) })],
]
const DOORS: readonly Door[] = [
  ...WRITING,
  ['checkContent', (agent_id) => ({ body: { content: 'x', agent_id } })],
  ['claudeCodeHook', (agent_id) => ({ query: { agent_id }, body: HOOK })],
  ['codexHook', (agent_id) => ({ query: { agent_id }, body: HOOK })],
  ['litellmGuardrail', (agent_id) => ({ body: guardrail(agent_id) })],
  ['listEntries', (agent_id) => ({ query: { agent_id } })],
  ['listApprovals', (agent_id) => ({ query: { agent_id } })],
  ['getEffectivePermissions', (agent_id) => ({ query: { agent_id } })],
]

const trust = (agent: string) => ({
  source_agent_id: agent,
  target_agent_id: agent,
  action: 'a.b',
})
const guardrail = (agent_id: string) => ({
  input_type: 'request',
  texts: ['x'],
  additional_provider_specific_params: { agent_id },
})
const HOOK = { hook_event_name: 'SessionStart', session_id: 's' }

describe.skipIf(!hasModules()).each(someDialects())(
  'an agent that names another one, on %s',
  (dialect) => {
    let api: Api
    let clock: TestClock
    beforeAll(async () => {
      clock = createClock()
      api = await createEnterprise({ dialect, clock })
      await register(api, 'liar')
    })
    afterAll(() => api.remit.close())
    // An agent has few credentials; those of the test before have expired.
    beforeEach(() => clock.advance(60_000))

    const asked = async () => {
      const query = { kind: 'identity.impersonation.refused', limit: 100 }
      const { data } = await api.ok('listEntries', { query })
      return data.map((entry) => entry.data?.['asked_agent_id'])
    }
    /** True if the answer refuses the request or its only evaluation for the agent. */
    const isForbidden = async (response: Response) =>
      response.status === 403 || (await response.text()).includes('"status":403')

    it.each(DOORS.map(([name, input], i) => [name, `victim-${i}`, input] as const))(
      'is refused by %s, and the ledger says so (%s)',
      async (name, victim, input) => {
        const { secret: key } = await issue(api, 'liar', { ttl_seconds: 60 })

        expect(await isForbidden(await api.call(name, { ...input(victim), key }))).toBe(true)

        expect(await asked()).toContain(victim)
      },
    )

    it.each(WRITING.map(([name, input], i) => [name, `victim-w${i}`, input] as const))(
      'is 401 from %s once its credential is revoked, and nothing is recorded (%s)',
      async (name, victim, input) => {
        await register(api, victim)
        const { secret: key, id } = await issue(api, victim)
        await api.ok('authorize', { key, body: { action: 'a.b' } })
        await api.ok('revokeCredential', { params: { credID: id } })

        expect((await api.call(name, { ...input('x'), key })).status).toBe(401)

        expect(await asked()).not.toContain('x')
      },
    )

    it.each([
      ['suspended', { name: 'changeAgent', body: { status: 'suspended' } }],
      ['removed', { name: 'removeAgent' }],
    ] as const)(
      'is 401 once it is %s, and nothing is recorded',
      async (end, { name, ...input }) => {
        await register(api, end)
        const { secret: key } = await issue(api, end)
        await api.ok('authorize', { key, body: { action: 'a.b' } })
        await api.ok(name, { params: { agentID: end }, ...input })

        const body = { agent_id: 'x', action: 'a.b' }
        expect((await api.call('authorize', { key, body })).status).toBe(401)

        expect(await asked()).not.toContain('x')
      },
    )
  },
)
