import { createKey } from '@remit/core/orgs'
import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerOf, createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'

describe.each(someDialects())('POST /v1/delegation/permissions/{id} on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock(NOW)
    api = await createApi({ dialect, clock })
    await grant('root', {
      agent_id: 'planner',
      actions: ['payments.*'],
      resources: ['account:*'],
      can_delegate: true,
      max_depth: 2,
      expires_at: '2026-12-01T00:00:00Z',
    })
  })
  afterAll(() => api.remit.close())

  const grant = (id: string, body: object) => api.ok('grantPermission', { params: { id }, body })
  const within = { parent_id: 'root', actions: ['payments.transfer'], resources: ['account:42'] }

  it('201 with the permission, its place and the receipt of its entry', async () => {
    const params = { id: 'first' }
    const body = { agent_id: 'buyer', actions: ['mail.*'], expires_at: '2026-12-01T00:00:00Z' }

    const response = await api.call('grantPermission', { params, body })

    expect(response.status).toBe(201)
    expect(response.headers.get('location')).toBe('/v1/delegation/permissions/first')
    const key = `key_${api.org.key.slice(4, 20)}`
    const { ledger, warnings, ...object } = await answerOf('grantPermission', response)
    expect(object).toEqual({
      id: 'first',
      agent_id: 'buyer',
      effect: 'allow',
      actions: ['mail.*'],
      resources: ['*'],
      condition: null,
      parent_id: null,
      granted_by: { type: 'key', id: key },
      can_delegate: false,
      max_depth: 0,
      not_before: null,
      expires_at: '2026-12-01T00:00:00.000Z',
      description: null,
      created_at: NOW,
      created_by: key,
      updated_at: NOW,
      revoked_at: null,
      revoked_by: null,
      depth: 0,
      chain: ['first'],
      effective: true,
    })
    expect(warnings).toEqual([])
    const { effective: _, ...recorded } = object
    const seq = ledger?.seq ?? -1
    expect(await api.ok('getEntry', { params: { seq } })).toMatchObject({
      kind: 'permission.granted',
      agent_id: 'buyer',
      actor: { type: 'key', id: key },
      data: { permission: recorded },
    })
    expect(await api.ok('getEntry', { params: { seq: seq + 1 } })).toMatchObject({
      kind: 'agent_mode.set',
      agent_id: 'buyer',
      data: { agent_id: 'buyer', mode: 'granted' },
    })
    expect(await api.ok('getPermission', { params })).toEqual(object)
  })

  it('201 for a delegated permission: the next link of the chain', async () => {
    const child = await grant('child', { agent_id: 'payer', ...within, can_delegate: true })
    const grandchild = await grant('grandchild', {
      agent_id: 'clerk',
      ...within,
      parent_id: 'child',
      granted_by: { type: 'agent', id: 'payer' },
    })

    expect(child).toMatchObject({
      depth: 1,
      chain: ['root', 'child'],
      granted_by: { type: 'agent', id: 'planner' },
      // The depth that its chain leaves.
      max_depth: 1,
      effective: true,
    })
    expect(grandchild).toMatchObject({
      depth: 2,
      chain: ['root', 'child', 'grandchild'],
      max_depth: 0,
    })
  })

  it('201 for a deny of agents by a pattern; its entry is about no single agent', async () => {
    const { ledger, ...deny } = await grant('deny', {
      agent_id: 'intern-*',
      effect: 'deny',
      actions: ['db.drop'],
    })

    expect(deny).toMatchObject({ agent_id: 'intern-*', effect: 'deny', effective: true })
    const entry = await api.ok('getEntry', { params: { seq: ledger?.seq ?? -1 } })
    expect(entry).toMatchObject({ kind: 'permission.granted', agent_id: null })
  })

  it('201 with warnings about probable mistakes', async () => {
    const { warnings } = await grant('warned', {
      agent_id: 'buyer',
      actions: ['Mail.send'],
      condition: 'context.amount_usd > 5',
      expires_at: NOW,
    })

    expect(warnings).toHaveLength(3)
    const condition = 'has(context.n) && context.n > 5'
    const open = await grant('open', { agent_id: 'buyer', effect: 'deny', condition })
    expect(open.warnings).toEqual([
      expect.stringContaining('a request without context.n passes this rule'),
    ])
    expect((await grant('fine', { agent_id: 'buyer', condition })).warnings).toEqual([])
  })

  describe('200', () => {
    it('replaces all but the id, the parent and the creator', async () => {
      const params = { id: 'replaced' }
      const { ledger: _, ...before } = await grant('replaced', {
        agent_id: 'payer',
        ...within,
        condition: 'amount_usd <= 100.0',
        description: 'small invoices',
      })
      clock.advance(1000)
      const key = await api.remit.key(api.org.id, 'admin')

      const response = await api.call('grantPermission', {
        params,
        key,
        body: { ...within, agent_id: 'cashier', actions: ['payments.refund'] },
      })

      expect(response.status).toBe(200)
      expect(response.headers.has('location')).toBe(false)
      const { ledger, ...after } = await answerOf('grantPermission', response)
      expect(after).toEqual({
        ...before,
        agent_id: 'cashier',
        actions: ['payments.refund'],
        condition: null,
        description: null,
        updated_at: '2026-11-20T08:00:01.000Z',
        warnings: [],
      })
      const entry = await api.ok('getEntry', { params: { seq: ledger?.seq ?? -1 } })
      expect(entry.actor?.id).toBe(`key_${key.slice(4, 20)}`)
    })

    it('applies a replaced parent to its children at once', async () => {
      const root = { agent_id: 'planner', can_delegate: true, max_depth: 1 }
      await grant('narrowed', root)
      await grant('under', { agent_id: 'porter', parent_id: 'narrowed' })
      const ask = { agent_id: 'porter', action: 'doors.open' }
      expect(await api.ok('authorize', { body: ask })).toMatchObject({ decision: 'allow' })

      await grant('narrowed', { ...root, actions: ['windows.*'] })

      expect(await api.ok('authorize', { body: ask })).toMatchObject({ reason: 'no_permission' })
      await grant('narrowed', root)
      expect(await api.ok('authorize', { body: ask })).toMatchObject({ decision: 'allow' })
    })
  })

  it('names the person of the key as the granter of a root', async () => {
    const { secret } = await createKey(api.remit.writer, api.org.id, {
      role: 'admin',
      person: 'ada@example.com',
    })

    const granted = await api.ok('grantPermission', {
      params: { id: 'by-ada' },
      key: secret,
      body: { agent_id: 'payer' },
    })

    expect(granted.granted_by).toEqual({ type: 'user', id: 'ada@example.com' })
    const entry = await api.ok('getEntry', { params: { seq: granted.ledger?.seq ?? -1 } })
    expect(entry.data?.['person']).toBe('ada@example.com')
  })

  it('does a repeated request once', async () => {
    const call = () =>
      api.call('grantPermission', {
        params: { id: 'once' },
        body: { agent_id: 'payer' },
        headers: { 'idempotency-key': 'grant once' },
      })

    const [first, second] = [await call(), await call()]

    expect([first.status, second.status]).toEqual([201, 201])
    expect(await second.json()).toEqual(await first.json())
  })
})
