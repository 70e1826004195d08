import { createClock, DIALECTS } from '@remit/core/testing'
import type { TestClock } from '@remit/core/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerOf, createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'

describe.each(DIALECTS)('POST /v1/delegation/permissions/{id} on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock(NOW)
    api = await createApi({ dialect, clock })
  })
  afterAll(() => api.remit.close())

  const grant = (id: string, body: object) => api.ok('grantPermission', { params: { id }, body })
  const refused = (id: string, body: object) =>
    api.refusal('grantPermission', { params: { id }, body })

  it('201 with the permission, its place and the receipt of its entry', async () => {
    const params = { id: 'first' }
    const body = { agent_id: 'planner', actions: ['payments.*'], expires_at: '2026-12-01T00:00:00Z' }

    const response = await api.call('grantPermission', { params, body })

    expect(response.status).toBe(201)
    expect(response.headers.get('location')).toBe('/v1/delegation/permissions/first')
    const key = `key_${api.org.key.slice(4, 20)}`
    const permission = await answerOf('grantPermission', response)
    const { ledger, warnings, ...object } = permission
    expect(object).toEqual({
      id: 'first',
      agent_id: 'planner',
      effect: 'allow',
      actions: ['payments.*'],
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
    const entry = await api.ok('getEntry', { params: { seq: ledger?.seq ?? -1 } })
    expect(entry).toMatchObject({
      kind: 'permission.granted',
      agent_id: 'planner',
      actor: { type: 'key', id: key },
      data: { permission: recorded },
    })
    expect(await api.ok('getPermission', { params })).toEqual(object)
  })
})
