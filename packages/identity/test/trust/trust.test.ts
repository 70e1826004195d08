import { DIALECTS } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createFederation } from '../support/federation.ts'
import type { Federation } from '../support/federation.ts'

interface Answer {
  readonly decision: string
  readonly reason: string
  readonly policy_id: string | null
  readonly ledger: { readonly seq: number }
}

for (const dialect of DIALECTS) {
  describe(`trust between agents on ${dialect}`, () => {
    let f: Federation
    beforeAll(async () => {
      f = await createFederation({ dialect })
      await f.agent('buyer-1', {
        labels: { team: 'shop', tier: 'a' },
        allowed_scopes: ['trust:check'],
      })
      await f.agent('seller-1', { labels: { team: 'shop' } })
      await f.agent('outsider')
    })
    afterAll(() => f.remit.close())
    beforeEach(async () => {
      const { data } = await list()
      for (const { id } of data) await remove(id)
    })

    const list = async () => {
      const response = await f.remit.call('GET', '/v1/identity/trust', { key: f.org.key })
      return (await response.json()) as { data: { id: string }[] }
    }
    const remove = (id: string) =>
      f.remit.call('DELETE', `/v1/identity/trust/${id}`, { key: f.org.key })
    const allow = (policy: Readonly<Record<string, unknown>> = {}) =>
      f.ok<{ id: string; ledger: { seq: number } }>('/v1/identity/trust', {
        effect: 'allow',
        ...policy,
      })
    const ask = (source: string, target: string, action = 'quote', key?: string) =>
      f.ok<Answer>(
        '/v1/identity/authorize',
        { source_agent_id: source, target_agent_id: target, action },
        key,
      )
    const reason = async (...question: Parameters<typeof ask>) => {
      const { decision, reason: why } = await ask(...question)
      return `${decision} ${why}`
    }

    it('does not exist unless a policy grants it', async () => {
      expect(await reason('buyer-1', 'seller-1')).toBe('deny default_deny')
      expect(await reason('buyer-1', 'buyer-1')).toBe('deny default_deny')
    })

    it('is only checked with ?validate=true, with the errors of storing', async () => {
      const send = async (query: string, body: object) => {
        const response = await f.remit.call('POST', `/v1/identity/trust${query}`, {
          key: f.org.key,
          body,
        })
        return { status: response.status, ...((await response.json()) as { errors?: unknown }) }
      }
      const wrong = { effect: 'allow', condition: 'source.nosuch ==' }
      const stored = await send('', wrong)
      const checked = await send('?validate=true', wrong)

      expect(stored.status).toBe(400)
      expect(checked).toMatchObject({ status: 200, valid: false })
      expect(checked.errors).toMatchObject(stored.errors as object)
      expect(await send('?validate=true', { effect: 'allow' })).toMatchObject({
        status: 200,
        valid: true,
        errors: [],
      })
      expect((await list()).data).toEqual([])
      expect(await reason('buyer-1', 'seller-1')).toBe('deny default_deny')
    })

    it('is given by patterns and by labels, to registered agents only', async () => {
      await allow({
        source_agents: ['buyer-*'],
        target_agents: [{ labels: { team: 'shop' } }],
        actions: ['quote.*'],
      })
      expect(await reason('buyer-1', 'seller-1', 'quote.get')).toBe('allow policy_allow')
      expect(await reason('buyer-1', 'seller-1', 'quote')).toBe('deny default_deny')
      expect(await reason('seller-1', 'buyer-1', 'quote.get')).toBe('deny default_deny')
      expect(await reason('buyer-1', 'outsider', 'quote.get')).toBe('deny default_deny')
      expect(await reason('buyer-2', 'seller-1', 'quote.get')).toBe('deny agent_denied')
    })

    it('is denied by any deny that matches, whatever allows it', async () => {
      await allow()
      const { id } = await allow({
        effect: 'deny',
        source_agents: [{ labels: { team: 'shop', tier: 'a' } }],
      })
      const answer = await ask('buyer-1', 'seller-1')
      expect(answer).toMatchObject({ decision: 'deny', reason: 'policy_deny', policy_id: id })
      expect(await reason('seller-1', 'buyer-1')).toBe('allow policy_allow')
      await remove(id)
      expect(await reason('buyer-1', 'seller-1')).toBe('allow policy_allow')
    })

    it('ends when its policy ends, and is not given by one that is switched off', async () => {
      const expires_at = new Date(f.clock.now() + 1000).toISOString()
      await allow({ expires_at })
      await allow({ enabled: false })
      expect(await reason('buyer-1', 'seller-1')).toBe('allow policy_allow')
      f.clock.advance(1000)
      expect(await reason('buyer-1', 'seller-1')).toBe('deny default_deny')
    })

    it('ends with the next question when one of the two is suspended', async () => {
      await allow()
      const change = (body: unknown) =>
        f.remit.call('PATCH', '/v1/identity/agents/outsider', { key: f.org.key, body })
      expect(await reason('outsider', 'seller-1')).toBe('allow policy_allow')
      await change({ status: 'suspended', suspended_reason: 'test' })
      expect(await reason('outsider', 'seller-1')).toBe('deny agent_suspended')
      expect(await reason('seller-1', 'outsider')).toBe('deny agent_suspended')
      await change({ status: 'active' })
      expect(await reason('outsider', 'seller-1')).toBe('allow policy_allow')
    })

    it('leaves one entry for each answer, at the place that the answer names', async () => {
      const { id } = await allow()
      const before = (await f.entries('trust.evaluated')).length
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, i) => ask('buyer-1', 'seller-1', `quote.${i}`)),
      )
      const entries = await f.entries('trust.evaluated')
      expect(entries.length - before).toBe(12)
      for (const [i, { ledger }] of answers.entries()) {
        expect(entries.find(({ seq }) => seq === ledger.seq)).toMatchObject({
          agent_id: 'buyer-1',
          action: `quote.${i}`,
          decision: 'allow',
          reason: 'policy_allow',
          data: { source_agent_id: 'buyer-1', target_agent_id: 'seller-1', policy_id: id },
        })
      }
    })

    it("is an agent's to ask about itself, and tells it nothing of who is registered", async () => {
      const issued = await f.ok<{ secret: string }>('/v1/identity/agents/buyer-1/credentials', {
        scopes: ['trust:check'],
      })
      const asAgent = (source: string, target: string) =>
        ask(source, target, 'quote', issued.secret)
      const { ledger: first, ...unknown } = await asAgent('buyer-1', 'nobody')
      const { ledger: second, ...known } = await asAgent('buyer-1', 'seller-1')
      expect(unknown).toEqual(known)
      expect(first.seq).not.toBe(second.seq)
      expect((await f.entries('trust.evaluated'))[1]?.reason).toBe('agent_denied')
      await asAgent('seller-1', 'buyer-1')
      const foreign = await f.post(
        '/v1/identity/authorize',
        { source_agent_id: 'seller-1', target_agent_id: 'outsider', action: 'quote' },
        issued.secret,
      )
      expect(foreign.status).toBe(403)
      expect(await foreign.json()).toMatchObject({ code: 'agent_mismatch' })
    })

    it('has no conditions without an evaluator', async () => {
      const response = await f.post('/v1/identity/trust', { effect: 'allow', condition: 'true' })
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ errors: [{ path: 'condition' }] })
    })

    it('belongs to an organization: others have no such policies, and know none of its agents', async () => {
      const { id } = await allow()
      const other = await f.remit.organization()
      const removal = (policy: string) =>
        f.remit.call('DELETE', `/v1/identity/trust/${policy}`, { key: other.key })
      const body = async (response: Response) => {
        const { request_id: _, ...rest } = (await response.json()) as Record<string, unknown>
        return rest
      }
      expect(await body(await removal(id))).toEqual(await body(await removal('tru_nothing')))
      expect(await reason('buyer-1', 'seller-1', 'quote', other.key)).toBe('deny agent_denied')
      expect((await list()).data).toHaveLength(1)
    })

    it.each([
      [{ effect: 'maybe' }, 'effect'],
      [{ effect: 'allow', source_agents: [] }, 'source_agents'],
      [{ effect: 'allow', target_agents: [{ labels: {} }] }, 'target_agents.0.labels'],
      [
        {
          effect: 'allow',
          target_agents: [{ labels: JSON.parse('{"a":"b","__proto__":"c"}') as object }],
        },
        'target_agents.0.labels',
      ],
      [{ effect: 'allow', agents: ['x'] }, 'agents'],
    ])('is not given by %j', async (policy, path) => {
      const response = await f.post('/v1/identity/trust', policy)
      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({ errors: [{ path }] })
    })
  })
}
