import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api, Ok } from '../support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'

describe.each(someDialects())('GET /v1/delegation on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect, clock: createClock(NOW) })
    const grant = (id: string, body: object) => api.ok('grantPermission', { params: { id }, body })
    await grant('a-root', { agent_id: 'planner', can_delegate: true, max_depth: 1 })
    await grant('b-child', { agent_id: 'payer', parent_id: 'a-root' })
    await grant('c-ended', { agent_id: 'payer', expires_at: NOW })
    await grant('d-revoked', { agent_id: 'clerk' })
    await api.ok('revokePermission', { params: { id: 'd-revoked' } })
    await grant('e-deny', { agent_id: 'pay*', effect: 'deny', actions: ['db.drop'] })
    await grant('f-of-sleeper', { agent_id: 'sleeper' })
    await api.remit.ports.agentSwitch?.suspend(api.org.id, 'sleeper', 'test')
    await api.ok('setApprovalRule', { params: { id: 'ask' }, body: { actions: ['ask.*'] } })
    for (const agent_id of ['payer', 'stranger'])
      await api.ok('authorize', { body: { agent_id, action: 'ask.people' } })
  })
  afterAll(() => api.remit.close())

  const read = (query: Record<string, string | number> = {}, from = api) =>
    from.ok('getDelegation', { query })
  const ids = ({ permissions }: Ok<'getDelegation'>) => permissions.map(({ id }) => id)

  it('200 with every permission, in force or not, and why not', async () => {
    const { permissions, next_cursor } = await read()

    expect(permissions.map(({ id, chain, effective }) => [id, chain, effective])).toEqual([
      ['a-root', ['a-root'], true],
      ['b-child', ['a-root', 'b-child'], true],
      ['c-ended', ['c-ended'], { dead: 'expired', link: 'c-ended' }],
      ['d-revoked', ['d-revoked'], { dead: 'revoked', link: 'd-revoked' }],
      ['e-deny', ['e-deny'], true],
      ['f-of-sleeper', ['f-of-sleeper'], { dead: 'suspended', link: 'f-of-sleeper' }],
    ])
    expect(next_cursor).toBeNull()
  })

  it('200 with their agents: mode, denials and live permissions', async () => {
    expect((await read()).agents).toEqual([
      { agent_id: 'clerk', mode: 'granted', denied: false, live_permissions: 0 },
      { agent_id: 'payer', mode: 'granted', denied: true, live_permissions: 1 },
      { agent_id: 'planner', mode: 'granted', denied: false, live_permissions: 1 },
      { agent_id: 'sleeper', mode: 'granted', denied: true, live_permissions: 0 },
    ])
  })

  it('200 with the approvals that are waited for, of all agents or of one', async () => {
    const agentsOf = ({ pending_approvals }: Ok<'getDelegation'>) =>
      pending_approvals.map(({ agent_id, status }) => `${agent_id} ${status}`).toSorted()

    expect(agentsOf(await read())).toEqual(['payer pending', 'stranger pending'])
    expect(agentsOf(await read({ agent_id: 'payer' }))).toEqual(['payer pending'])
    expect(agentsOf(await read({ cursor: 'a-root' }))).toEqual([])
  })

  it('200 for one agent: its permissions, its denials, and its state without any', async () => {
    const payer = await read({ agent_id: 'payer' })
    expect(ids(payer)).toEqual(['b-child', 'c-ended', 'e-deny'])
    expect(payer.agents.map(({ agent_id }) => agent_id)).toEqual(['payer'])

    const unknown = await read({ agent_id: 'unknown' })
    expect(unknown).toEqual({
      permissions: [],
      agents: [{ agent_id: 'unknown', mode: 'open', denied: false, live_permissions: 0 }],
      pending_approvals: [],
      next_cursor: null,
    })
  })

  it('200 page by page, everything once, with whole chains', async () => {
    const seen: unknown[] = []
    let cursor: string | null = null
    do {
      const page: Ok<'getDelegation'> = await read({ limit: 1, ...(cursor && { cursor }) })
      seen.push(...page.permissions)
      expect(page.agents.length).toBeLessThanOrEqual(1)
      cursor = page.next_cursor
    } while (cursor !== null)

    expect(seen).toEqual((await read()).permissions)
  })

  it('200 and empty for another organization', async () => {
    const other = api.as(await api.remit.organization())

    expect(await read({}, other)).toEqual({
      permissions: [],
      agents: [],
      pending_approvals: [],
      next_cursor: null,
    })
  })

  it('200 for keys that read or approve', async () => {
    for (const role of ['read', 'approver'] as const) {
      const key = await api.remit.key(api.org.id, role)
      expect((await api.call('getDelegation', { key })).status).toBe(200)
    }
  })

  it.each([{ limit: 0 }, { agent_id: 'pay*' }, { agent_id: '' }, { page: 2 }])(
    '400 for %j',
    async (query) => {
      const problem = await api.refusal('getDelegation', { query })

      expect(problem.code).toBe('invalid_request')
    },
  )

  it('403 for a key that only asks, and below the enterprise plan', async () => {
    const key = await api.remit.key(api.org.id, 'ingest')
    expect((await api.refusal('getDelegation', { key })).code).toBe('role_required')

    const team = api.as(await api.remit.organization('team'))
    expect((await team.refusal('getDelegation')).code).toBe('plan_required')
  })
})
