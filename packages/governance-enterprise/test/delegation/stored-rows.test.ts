import { on } from '@remit/core/db'
import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tables } from '../../src/tables/schema.ts'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { aPermission } from '../support/permissions.ts'

type Given = Parameters<typeof aPermission>[0]

describe.each(someDialects())('rows of the table from any writer, on %s', (dialect) => {
  let root: Api
  beforeAll(async () => {
    root = await createApi({ dialect })
  })
  afterAll(() => root.remit.close())

  async function withRows(rows: readonly Given[]): Promise<Api> {
    const api = root.as(await root.remit.organization())
    const values = rows.map((row) => aPermission({ org_id: api.org.id, ...row }))
    for (let start = 0; start < values.length; start += 100)
      await on<Tables>(api.remit.db)
        .insertInto('agent_permission')
        .values(values.slice(start, start + 100))
        .execute()
    return api
  }
  const shown = async (api: Api, id: string) =>
    (await api.ok('getPermission', { params: { id } })).effective

  const open = { can_delegate: 1, max_depth: 8 }
  const cycle: Given[] = [
    { id: 'a', agent_id: 'planner', parent_id: 'b', granted_by: 'payer', ...open },
    { id: 'b', agent_id: 'payer', parent_id: 'a', granted_by: 'planner', ...open },
  ]

  it('a cycle is no authority, shows as one, and does not keep anything busy', async () => {
    const api = await withRows(cycle)
    await api.ok('setAgentMode', { params: { agent_id: 'payer' }, body: { mode: 'granted' } })

    expect(await api.ok('authorize', { body: { agent_id: 'payer', action: 'x' } })).toMatchObject({
      reason: 'no_permission',
    })
    expect(await shown(api, 'b')).toEqual({ dead: 'cycle', link: 'b' })
    const { permissions } = await api.ok('getDelegation')
    expect(permissions.map(({ depth }) => depth)).toEqual([1, 1])
    const query = { agent_id: 'payer' }
    expect((await api.ok('getEffectivePermissions', { query })).grants).toEqual([])
  })

  it('a cycle is revoked as a whole', async () => {
    const api = await withRows(cycle)

    const { revoked } = await api.ok('revokePermission', { params: { id: 'b' } })

    expect(revoked).toEqual(['b', 'a'])
  })

  it('a missing parent, or one of another organization, grants nothing', async () => {
    await withRows([{ id: 'elsewhere', agent_id: 'planner', ...open }])
    const api = await withRows([{ id: 'child', parent_id: 'elsewhere', granted_by: 'planner' }])

    expect(await shown(api, 'child')).toEqual({ dead: 'parent_missing', link: 'elsewhere' })
  })

  it('409 for one deny with a pattern too many; agents by name, and replacing, still go', async () => {
    const api = await withRows(
      Array.from({ length: 1_000 }, (_, i) => ({
        id: `deny-${i}`,
        agent_id: `team-${i}-*`,
        effect: 'deny' as const,
      })),
    )
    const post = async (id: string, agent_id: string) => {
      const body = { agent_id, effect: 'deny' }
      return (await api.call('grantPermission', { params: { id }, body })).status
    }

    const problem = await api.refusal('grantPermission', {
      params: { id: 'one-more' },
      body: { agent_id: '*', effect: 'deny' },
    })

    expect(problem.code).toBe('too_many_pattern_denies')
    expect(await post('by-name', 'payer')).toBe(201)
    expect(await post('deny-7', 'team-*')).toBe(200)
    expect(await post('by-name', 'pay*')).toBe(409)
    await api.ok('revokePermission', { params: { id: 'deny-8' } })
    expect(await post('by-name', 'pay*')).toBe(200)
  })
})
