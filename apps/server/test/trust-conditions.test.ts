import { createClock, createTestRemit, someDialects } from '@remit/testing'
import type { TestOrganization, TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, loadModules } from '../src/boot/modules.ts'

describe.skipIf(!hasModules()).each(someDialects())('conditions of trust on %s', (dialect) => {
  let remit: TestRemit
  let org: TestOrganization
  const clock = createClock()
  beforeAll(async () => {
    remit = await createTestRemit({ dialect, modules: await loadModules(), clock })
    org = await remit.organization()
    for (const [agent_id, region] of [
      ['buyer', 'eu'],
      ['seller', 'eu'],
      ['far', 'us'],
    ]) {
      const owners = [{ type: 'user', id: 'ada' }]
      await post('/v1/identity/agents', { agent_id, owners, labels: { region } })
    }
  })
  afterAll(() => remit.close())

  const post = async (path: string, body: unknown) => {
    const response = await remit.call('POST', path, { key: org.key, body })
    const answer = (await response.json()) as Record<string, unknown>
    return { status: response.status, answer }
  }
  const ask = async (target: string, context?: unknown) => {
    const question = { source_agent_id: 'buyer', target_agent_id: target, action: 'order' }
    const { answer } = await post('/v1/identity/authorize', { ...question, context })
    return `${String(answer['decision'])} ${String(answer['reason'])}`
  }

  it('read both agents, the action, the context and the time, as those of policies do', async () => {
    await post('/v1/identity/trust', {
      effect: 'allow',
      condition:
        'source.labels.region == target.labels.region && source.id == "buyer" && action == "order" && has(context.amount) && context.amount < 100 && now < timestamp("2026-11-20T09:00:00Z")',
    })
    expect(await ask('seller', { amount: 99 })).toBe('allow policy_allow')
    expect(await ask('seller', { amount: 100 })).toBe('deny default_deny')
    expect(await ask('seller')).toBe('deny default_deny')
    expect(await ask('far', { amount: 99 })).toBe('deny default_deny')
    clock.advance(3_600_000)
    expect(await ask('seller', { amount: 99 })).toBe('deny default_deny')
  })

  it('that cannot be evaluated deny where they deny, and allow nothing', async () => {
    const allow = { effect: 'allow', condition: 'context.missing == 1' }
    await post('/v1/identity/trust', allow)
    expect(await ask('seller')).toBe('deny default_deny')
    await post('/v1/identity/trust', { effect: 'allow' })
    expect(await ask('seller')).toBe('allow policy_allow')
    await post('/v1/identity/trust', { ...allow, effect: 'deny' })
    expect(await ask('seller')).toBe('deny policy_error')
    expect(await ask('seller', { missing: 2 })).toBe('allow policy_allow')
  })

  it('that compute for long are judged in one transaction after the other', async () => {
    await post('/v1/identity/trust', {
      effect: 'allow',
      condition: 'context.many.map(x, "%.9f".format([x])).join("").size() == 1',
    })
    const question = {
      source_agent_id: 'buyer',
      target_agent_id: 'seller',
      action: 'order',
      context: { many: Array.from({ length: 900 }, (_, i) => i) },
    }
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => post('/v1/identity/authorize', question)),
    )

    const sizes = answers.map(({ answer }) => {
      const { checkpoint } = answer['ledger'] as { checkpoint: { size: number } }
      return checkpoint.size
    })
    expect(new Set(sizes).size).toBe(4)
  })

  it('are refused with the place of their fault', async () => {
    for (const condition of ['source.', 'agent_id == "x"', 'size(action)']) {
      const { status, answer } = await post('/v1/identity/trust', { effect: 'allow', condition })
      expect(status).toBe(400)
      expect(answer).toMatchObject({ errors: [{ path: 'condition' }], position: { line: 1 } })
    }
    const { answer } = await post('/v1/identity/trust', {
      effect: 'deny',
      condition: 'has(context.x) && context.x == 1',
    })
    expect(answer['warnings']).toEqual([
      expect.stringContaining('a request without context.x passes this rule'),
    ])
  })
})
