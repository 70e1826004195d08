import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'

describe.each(someDialects())('GET /v1/delegation/effective on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect, clock: createClock(NOW) })
  })
  afterAll(() => api.remit.close())

  const grant = (id: string, body: object) => api.ok('grantPermission', { params: { id }, body })
  const read = (agent_id: string) => api.ok('getEffectivePermissions', { query: { agent_id } })

  it('200 with permissions, reasons, ends and spend limit', async () => {
    await grant('top', {
      agent_id: 'planner',
      actions: ['payments.*'],
      condition: 'amount_usd <= 100.0',
      can_delegate: true,
      max_depth: 1,
      expires_at: '2026-12-01T00:00:00Z',
    })
    await grant('cut', {
      agent_id: 'payer',
      actions: ['payments.transfer'],
      parent_id: 'top',
      expires_at: '2026-11-25T00:00:00Z',
    })
    await grant('no-refund', {
      agent_id: 'pay*',
      effect: 'deny',
      actions: ['*.refund'],
      description: 'Refunds are made by people.',
    })
    await grant('not-to-42', { agent_id: 'planner', effect: 'deny', resources: ['account:42'] })
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 50 } })
    await api.ok('authorize', {
      body: { agent_id: 'payer', action: 'payments.transfer', context: { amount: 20 } },
    })

    const { spend_limit, ...effective } = await read('payer')

    const key = `key_${api.org.key.slice(4, 20)}`
    expect(effective).toEqual({
      agent_id: 'payer',
      at: NOW,
      state: 'active',
      suspended: null,
      mode: 'granted',
      grants: [
        {
          id: 'cut',
          actions: ['payments.transfer'],
          resources: ['*'],
          conditions: ['amount_usd <= 100.0'],
          expires_at: '2026-11-25T00:00:00.000Z',
          partial: false,
          chain: [
            {
              id: 'top',
              agent_id: 'planner',
              granted_by: { type: 'key', id: key },
              actions: ['payments.*'],
              resources: ['*'],
              condition: 'amount_usd <= 100.0',
              not_before: null,
              expires_at: '2026-12-01T00:00:00.000Z',
            },
            {
              id: 'cut',
              agent_id: 'payer',
              granted_by: { type: 'agent', id: 'planner' },
              actions: ['payments.transfer'],
              resources: ['*'],
              condition: null,
              not_before: null,
              expires_at: '2026-11-25T00:00:00.000Z',
            },
          ],
          denies: [
            {
              id: 'not-to-42',
              agent_id: 'planner',
              actions: ['*'],
              resources: ['account:42'],
              condition: null,
              not_before: null,
              expires_at: null,
              description: null,
            },
          ],
        },
      ],
      denies: [
        {
          id: 'no-refund',
          agent_id: 'pay*',
          actions: ['*.refund'],
          resources: ['*'],
          condition: null,
          not_before: null,
          expires_at: null,
          description: 'Refunds are made by people.',
        },
      ],
      changes_at: '2026-11-25T00:00:00.000Z',
    })
    expect(spend_limit).toMatchObject({ daily_usd: 50, spent: { day: { held_usd: 20 } } })
  })

  it('200 for an agent without any rule', async () => {
    expect(await read('stranger')).toEqual({
      agent_id: 'stranger',
      at: NOW,
      state: 'active',
      suspended: null,
      mode: 'open',
      grants: [],
      denies: [],
      spend_limit: null,
      changes_at: null,
    })
  })

  it('200 for a suspended agent: the reason, and no grant', async () => {
    await grant('idle', { agent_id: 'sleeper' })
    await api.remit.ports.agentSwitch?.suspend(api.org.id, 'sleeper', 'leaked a key')

    expect(await read('sleeper')).toMatchObject({
      state: 'suspended',
      suspended: { reason: 'leaked a key' },
      mode: 'granted',
      grants: [],
    })
  })

  it.each([{}, { agent_id: 'pay*' }, { agent_id: 'payer', at: NOW }])(
    '400 for %j',
    async (query: Record<string, string>) => {
      const problem = await api.refusal('getEffectivePermissions', { query })

      expect(problem.code).toBe('invalid_request')
    },
  )

  it('403 for a key that only asks, and below the enterprise plan', async () => {
    const query = { agent_id: 'payer' }
    const key = await api.remit.key(api.org.id, 'ingest')
    const role = await api.refusal('getEffectivePermissions', { query, key })
    const team = api.as(await api.remit.organization('team'))
    const plan = await team.refusal('getEffectivePermissions', { query })

    expect([role.code, plan.code]).toEqual(['role_required', 'plan_required'])
  })
})
