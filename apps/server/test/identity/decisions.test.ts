import { createKey } from '@remit/core/orgs'
import { someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../../src/boot/modules.ts'
import { createEnterprise, decide, issue, register } from './support.ts'

describe.skipIf(!hasModules()).each(someDialects())(
  'decisions and the registry of agents on %s',
  (dialect) => {
    let api: Api
    beforeAll(async () => {
      api = await createEnterprise({ dialect })
    })
    afterAll(() => api.remit.close())

    const agent = (agentID: string) => ({ params: { agentID } })
    const setting = (of: Api, settings: object) =>
      of.ok('changeOrganization', { body: { settings } })
    const suspend = (id: string, suspended_reason = 'test') =>
      api.ok('changeAgent', { ...agent(id), body: { status: 'suspended', suspended_reason } })

    it('a removed agent is denied for good, and everybody is told so', async () => {
      await register(api, 'removed')
      expect(await decide(api, 'removed')).toBe('allow')
      await api.ok('removeAgent', agent('removed'))

      const answer = await api.ok('authorize', { body: { agent_id: 'removed', action: 'a.b' } })

      expect(answer).toMatchObject({
        decision: 'deny',
        reason: 'agent_removed',
        matched: [{ kind: 'agent', id: 'removed' }],
      })
    })

    it('a default allow tells a registered agent from one that is not, and so do denials', async () => {
      await register(api, 'vouched-for')
      const known = await api.ok('authorize', { body: { agent_id: 'vouched-for', action: 'a.b' } })
      const stranger = { agent_id: 'stranger', action: 'a.b' }
      const unknown = await api.ok('authorize', { body: stranger })
      await setting(api, { unknown_agents: 'deny' })
      const refused = await api.ok('authorize', { body: stranger })
      await setting(api, { unknown_agents: null, default_effect: 'deny' })
      const unmatched = await api.ok('authorize', { body: stranger })
      await setting(api, { default_effect: null })

      expect(known).toMatchObject({
        reason: 'default_allow',
        message: 'No rule denies this action.',
      })
      expect(known).not.toHaveProperty('agent')
      expect(unknown).toMatchObject({
        reason: 'default_allow',
        message: 'No rule denies this action. The agent is not registered.',
        agent: { registered: false },
      })
      expect(refused).toMatchObject({ reason: 'agent_denied', agent: { registered: false } })
      expect(unmatched).toMatchObject({ reason: 'default_deny', agent: { registered: false } })
    })

    it('a suspended agent is denied with the reason, until it is resumed', async () => {
      await register(api, 'suspended')
      await suspend('suspended', 'leaked a key')

      const answer = await api.ok('authorize', { body: { agent_id: 'suspended', action: 'a.b' } })
      await api.ok('changeAgent', { ...agent('suspended'), body: { status: 'active' } })

      expect(answer).toMatchObject({
        reason: 'agent_suspended',
        message: 'The agent is suspended: leaked a key',
      })
      expect(await decide(api, 'suspended')).toBe('allow')
    })

    describe("the operator's stop and the registry are one truth", () => {
      const stop = (id: string) =>
        api.remit.ports.agentSwitch?.suspend(api.org.id, id, 'by the operator')
      const resume = (id: string) => api.remit.ports.agentSwitch?.resume(api.org.id, id)

      it('a stop of a registered agent is its status, and the API ends it', async () => {
        await register(api, 'known')
        await stop('known')

        expect(await api.ok('getAgent', agent('known'))).toMatchObject({
          status: 'suspended',
          suspended_reason: 'by the operator',
        })
        expect(await decide(api, 'known')).toBe('agent_suspended')
        await api.ok('changeAgent', { ...agent('known'), body: { status: 'active' } })
        expect(await decide(api, 'known')).toBe('allow')
        await expect(resume('known')).rejects.toMatchObject({ code: 'not_found' })
      })

      it('the operator ends what the API began', async () => {
        await register(api, 'resumed')
        await suspend('resumed')

        await resume('resumed')

        expect((await api.ok('getAgent', agent('resumed'))).status).toBe('active')
        expect(await decide(api, 'resumed')).toBe('allow')
      })

      it('an agent that was stopped before it is registered stays so, until somebody resumes it', async () => {
        await stop('early')

        expect(await register(api, 'early')).toMatchObject({
          status: 'suspended',
          suspended_reason: 'by the operator',
        })
        expect(await decide(api, 'early')).toBe('agent_suspended')
        await api.ok('changeAgent', { ...agent('early'), body: { status: 'active' } })
        expect(await decide(api, 'early')).toBe('allow')
      })

      it('without a reason an agent is stopped all the same, registered before or after', async () => {
        const suspendNow = (id: string) =>
          api.remit.ports.agentSwitch?.suspend(api.org.id, id, null)
        await suspendNow('silent')
        expect(
          await api.ok('authorize', { body: { agent_id: 'silent', action: 'a.b' } }),
        ).toMatchObject({ decision: 'deny', message: 'The agent is suspended.' })
        expect(await register(api, 'silent')).toMatchObject({
          status: 'suspended',
          suspended_reason: null,
        })
        expect(await decide(api, 'silent')).toBe('agent_suspended')
      })

      it('an agent that is not registered can still be stopped', async () => {
        await stop('stranger')
        expect(await decide(api, 'stranger')).toBe('agent_suspended')
        await resume('stranger')
        expect(await decide(api, 'stranger')).toBe('allow')
      })

      it('a removed agent can be neither stopped nor resumed', async () => {
        await register(api, 'no-more')
        await api.ok('removeAgent', agent('no-more'))

        for (const change of [stop, resume])
          await expect(change('no-more')).rejects.toMatchObject({ code: 'agent_not_found' })
        expect(await decide(api, 'no-more')).toBe('agent_removed')
      })
    })

    it('unknown_agents=deny: only registered agents may act', async () => {
      const own = api.as(await api.remit.organization())
      await register(own, 'registered')
      await setting(own, { unknown_agents: 'deny' })

      const answer = await own.ok('authorize', { body: { agent_id: 'stranger', action: 'a.b' } })

      expect(answer).toMatchObject({
        decision: 'deny',
        reason: 'agent_denied',
        matched: [{ kind: 'setting', id: 'unknown_agents' }],
      })
      expect(await decide(own, 'registered')).toBe('allow')
      await own.ok('removeAgent', agent('registered'))
      expect(await decide(own, 'registered')).toBe('agent_removed')
    })

    it('require_agent_credentials: keys cannot act for agents any more, credentials can', async () => {
      const own = api.as(await api.remit.organization())
      await register(own, 'payer')
      const { secret } = await issue(own, 'payer')
      await setting(own, { require_agent_credentials: true })

      const answer = await own.ok('authorize', { body: { agent_id: 'payer', action: 'a.b' } })

      expect(answer).toMatchObject({
        reason: 'agent_denied',
        matched: [{ kind: 'setting', id: 'require_agent_credentials' }],
      })
      expect(await decide(own, 'payer', secret)).toBe('allow')
    })

    it('what the registry says of an agent is the variable `agent` of conditions, of every stage', async () => {
      const own = api.as(await api.remit.organization())
      await register(own, 'billing-bot', { environment: 'prod', labels: { team: 'billing' } })
      await register(own, 'other-bot', { labels: { team: 'other' } })
      const condition = 'has(agent.labels) && agent.labels.team == "billing"'
      await own.ok('createPolicy', { body: { effect: 'deny', actions: ['policy.*'], condition } })
      await own.ok('setApprovalRule', {
        params: { id: 'billing' },
        body: {
          actions: ['approval.*'],
          condition: 'agent.environment == "prod"',
          agents: ['billing-bot'],
        },
      })
      await own.ok('grantPermission', {
        params: { id: 'no-billing' },
        body: { agent_id: '*', effect: 'deny', actions: ['permission.*'], condition },
      })
      const ask = async (agent_id: string, action: string) =>
        (await own.ok('authorize', { body: { agent_id, action } })).reason

      expect(await ask('billing-bot', 'policy.x')).toBe('policy_deny')
      expect(await ask('billing-bot', 'approval.x')).toBe('approval_required')
      expect(await ask('billing-bot', 'permission.x')).toBe('agent_denied')
      for (const action of ['policy.x', 'approval.x', 'permission.x']) {
        expect(await ask('other-bot', action)).toBe('default_allow')
        expect(await ask('stranger', action)).toBe('default_allow')
      }
      await own.ok('changeAgent', { ...agent('other-bot'), body: { labels: { team: 'billing' } } })
      expect(await ask('other-bot', 'policy.x')).toBe('policy_deny')
    })

    it('a permission that goes through a removed agent is dead', async () => {
      await register(api, 'delegator')
      const grant = (id: string, body: object) =>
        api.ok('grantPermission', { params: { id }, body })
      await grant('root', { agent_id: 'delegator', can_delegate: true, max_depth: 1 })
      await grant('leaf', {
        agent_id: 'delegate',
        parent_id: 'root',
        granted_by: { type: 'agent', id: 'delegator' },
      })
      expect(await decide(api, 'delegate')).toBe('allow')

      await api.ok('removeAgent', agent('delegator'))

      expect(await decide(api, 'delegate')).toBe('no_permission')
      const { effective } = await api.ok('getPermission', { params: { id: 'leaf' } })
      expect(effective).toEqual({ dead: 'removed', link: 'root' })
    })

    describe('who owns an agent', () => {
      const personsKey = async (person: string) =>
        (await createKey(api.remit.writer, api.org.id, { role: 'approver', person })).secret
      const requestOf = async (agent_id: string, n: number) => {
        const body = { agent_id, action: 'owned.act', context: { n } }
        return (await api.ok('authorize', { body })).approval?.id ?? ''
      }
      const approve = (requestID: string, key: string) =>
        api.call('decideApproval', { key, params: { requestID }, body: { decision: 'approve' } })

      it('may not approve its requests, by any of his names; others may', async () => {
        await register(api, 'owned')
        await api.ok('setApprovalRule', { params: { id: 'owned' }, body: { actions: ['owned.*'] } })
        const id = await requestOf('owned', 1)

        const refused = await approve(id, await personsKey('ADA@example.org'))

        expect(await refused.json()).toMatchObject({
          code: 'approver_not_eligible',
          detail: 'An owner of the agent cannot decide under the rule owned',
        })
        expect((await approve(id, await personsKey('bob@example.org'))).status).toBe(200)
      })

      it('an approval by somebody who owns the agent since is not used', async () => {
        const id = await requestOf('owned', 2)
        expect((await approve(id, await personsKey('eve@example.org'))).status).toBe(200)
        const owners = [{ type: 'user', id: 'eve', email: 'eve@example.org' }]
        await api.ok('changeAgent', { ...agent('owned'), body: { owners } })

        const body = { agent_id: 'owned', action: 'owned.act', context: { n: 2 } }
        expect((await api.ok('authorize', { body })).decision).toBe('needs_approval')
      })

      it('may where the rule lets him', async () => {
        await api.ok('setApprovalRule', {
          params: { id: 'owned' },
          body: { actions: ['owned.*'], prevent_self_approval: false },
        })
        const id = await requestOf('owned', 3)

        expect((await approve(id, await personsKey('eve@example.org'))).status).toBe(200)
      })
    })
  },
)
