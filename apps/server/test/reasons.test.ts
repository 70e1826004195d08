import { someDialects } from '@remit/testing'
import type { Api } from '@remit/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createEnterprise, register } from './identity/support.ts'

const CONTEXT = { items: Array(1_000).fill(0) }
/** False, after a hundred looks at the clock. */
const SLOW = Array(10).fill('context.items.exists(item, item == 1)').join(' || ')
const SLOW_AND_TRUE = `!(${SLOW})`

/** A clock that is a millisecond further at every look. */
function hurrying(): () => number {
  let now = performance.now()
  return () => ++now
}

/** Time passes, while this thread computes or another one has the processor. */
function passTime(does: 'compute' | 'wait'): void {
  vi.spyOn(performance, 'now').mockImplementation(hurrying())
  const computed = does === 'compute' ? hurrying() : () => 0
  vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => ({
    user: computed() * 1000,
    system: 0,
  }))
}

describe.skipIf(!hasModules()).each(someDialects())('reasons on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createEnterprise({ dialect })
    const settings = { default_effect: 'deny', unknown_agents: 'deny' }
    await api.ok('changeOrganization', { body: { settings } })
    await register(api, 'peer')
  })
  afterAll(() => api.remit.close())
  afterEach(() => {
    vi.restoreAllMocks()
  })

  const suspend = (id: string) => api.remit.ports.agentSwitch?.suspend(api.org.id, id, 'test')
  const policy = (id: string, effect: 'allow' | 'deny', condition: string | null = null) =>
    api.ok('createPolicy', { body: { effect, agents: [id], condition } })
  const trustPolicy = (id: string, effect: 'allow' | 'deny', condition: string | null = null) =>
    api.ok('createTrustPolicy', { body: { effect, source_agents: [id], condition } })
  const permission = (agent_id: string, effect: 'allow' | 'deny', condition: string) =>
    api.ok('grantPermission', { params: { id: agent_id }, body: { agent_id, effect, condition } })

  /** A registered agent with the same rule in the policies and in the trust policies. */
  async function ruled(id: string, ...rule: ['allow' | 'deny', string?]) {
    await register(api, id)
    await policy(id, ...rule)
    await trustPolicy(id, ...rule)
  }

  const authorize = async (agent_id: string) =>
    (await api.ok('authorize', { body: { agent_id, action: 'a.b', context: CONTEXT } })).reason
  const evaluateWith = async (id: string, context: object) => {
    const subject = { type: 'agent', id }
    const resource = { type: 'account', id: '1' }
    const body = { subject, action: { name: 'a.b' }, resource, context }
    return (await api.ok('accessEvaluation', { body })).context?.reason
  }
  const evaluate = (id: string) => evaluateWith(id, CONTEXT)
  const evaluateAgain = (id: string) =>
    evaluateWith(id, { ...CONTEXT, approval: { id: 'apr_none' } })
  const trustBetween = async (source_agent_id: string, target_agent_id: string) => {
    const body = { source_agent_id, target_agent_id, action: 'a.b', context: CONTEXT }
    return (await api.ok('evaluateTrust', { body })).reason
  }
  const trust = (id: string) => trustBetween(id, 'peer')
  const trustTowards = (id: string) => trustBetween('peer', id)

  describe('are the same at every door', () => {
    const SITUATIONS: [string, string, (id: string) => unknown][] = [
      ['an agent that is not registered', 'agent_denied', () => undefined],
      ['a suspended agent that is not registered', 'agent_suspended', suspend],
      [
        'a suspended agent',
        'agent_suspended',
        async (id) => {
          await ruled(id, 'allow')
          await suspend(id)
        },
      ],
      [
        'a removed agent',
        'agent_removed',
        async (agentID) => {
          await ruled(agentID, 'allow')
          await api.ok('removeAgent', { params: { agentID } })
        },
      ],
      ['an agent without rules', 'default_deny', (id) => register(api, id)],
      ['an allow', 'policy_allow', (id) => ruled(id, 'allow')],
      ['a deny', 'policy_deny', (id) => ruled(id, 'deny')],
      ['an allow with an error', 'default_deny', (id) => ruled(id, 'allow', 'context.no == 1')],
      ['a deny with an error', 'policy_error', (id) => ruled(id, 'deny', 'context.no == 1')],
      [
        'an allow that computes for too long',
        'policy_error',
        async (id) => {
          await ruled(id, 'allow', SLOW)
          passTime('compute')
        },
      ],
    ]

    it.each(SITUATIONS)('%s: %s', async (situation, reason, arrange) => {
      const id = situation.replaceAll(' ', '-')
      await arrange(id)

      const doors = [authorize, evaluate, evaluateAgain, trust]
      if (reason.startsWith('agent_')) doors.push(trustTowards)
      for (const door of doors) expect(await door(id), door.name).toBe(reason)
    })
  })

  describe('depend on the time that conditions compute, not on the time that passes', () => {
    const RULES: [string, string, (id: string) => Promise<unknown>, typeof authorize][] = [
      ['a denial', 'agent_denied', (id) => permission(id, 'deny', SLOW), authorize],
      ['a grant', 'no_permission', (id) => permission(id, 'allow', SLOW_AND_TRUE), authorize],
      ['a policy', 'policy_error', (id) => policy(id, 'deny', SLOW), authorize],
      [
        'an approval rule',
        'approval_required',
        (id) =>
          api.ok('setApprovalRule', {
            params: { id },
            body: { agents: [id], actions: ['*'], condition: SLOW },
          }),
        authorize,
      ],
      ['a trust policy', 'policy_error', (id) => trustPolicy(id, 'deny', SLOW), trust],
    ]

    it.each(RULES)('of %s: beyond the limit, %s', async (rule, reason, create, ask) => {
      const id = `timed-${rule.replaceAll(' ', '-')}`
      await ruled(id, 'allow')
      await create(id)

      passTime('wait')
      expect(await ask(id)).toBe('policy_allow')
      passTime('compute')
      expect(await ask(id)).toBe(reason)
    })
  })
})
