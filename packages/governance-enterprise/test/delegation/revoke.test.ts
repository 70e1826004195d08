import { on } from '@remit/core/db'
import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Tables } from '../../src/tables/schema.ts'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { aPermission } from '../support/permissions.ts'

describe.each(someDialects())('DELETE /v1/delegation/permissions/{id} on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
  })
  afterAll(() => api.remit.close())

  const grant = (id: string, body: object) => api.ok('grantPermission', { params: { id }, body })
  const revoke = (id: string) => api.ok('revokePermission', { params: { id } })
  const open = { can_delegate: true, max_depth: 8 }
  const reasonOf = async (agent_id: string) =>
    (await api.ok('authorize', { body: { agent_id, action: 'a.b' } })).reason

  /** `top` has the children `left` and `right`, and `left` the child `below`; each has its own agent. */
  async function tree(name: string): Promise<(part: string) => string> {
    const id = (part: string) => `${name}-${part}`
    await grant(id('top'), { agent_id: id('top'), ...open })
    const further = { can_delegate: true }
    await grant(id('left'), { agent_id: id('left'), parent_id: id('top'), ...further })
    await grant(id('right'), { agent_id: id('right'), parent_id: id('top'), ...further })
    await grant(id('below'), { agent_id: id('below'), parent_id: id('left') })
    return id
  }

  it('200 with the permission and every one that was cut from it, in one entry', async () => {
    const id = await tree('whole')
    expect(await reasonOf(id('below'))).toBe('permission_grant')

    const { revoked, ledger } = await revoke(id('top'))

    expect(revoked[0]).toBe(id('top'))
    expect(revoked.toSorted()).toEqual(['below', 'left', 'right', 'top'].map(id))
    const entry = await api.ok('getEntry', { params: { seq: ledger.seq } })
    expect(entry).toMatchObject({
      kind: 'permission.revoked',
      agent_id: id('top'),
      actor: { type: 'key' },
      data: { revoked, permission: { id: id('top'), revoked_by: entry.actor?.id } },
    })
    for (const part of ['top', 'left', 'right', 'below'])
      expect(await reasonOf(id(part))).toBe('no_permission')
  })

  it('200 keeps permissions that are not descendants', async () => {
    const id = await tree('part')

    expect((await revoke(id('left'))).revoked).toEqual([id('left'), id('below')])

    expect(await reasonOf(id('top'))).toBe('permission_grant')
    expect(await reasonOf(id('right'))).toBe('permission_grant')
    expect(await reasonOf(id('below'))).toBe('no_permission')
  })

  it('200 lists each permission once: what is revoked already is not revoked again', async () => {
    const id = await tree('twice')
    await revoke(id('left'))

    expect((await revoke(id('top'))).revoked).toEqual([id('top'), id('right')])
  })

  it('keeps the record, with when and by whom it was revoked', async () => {
    await grant('evidence', { agent_id: 'payer', description: 'small invoices' })
    await revoke('evidence')

    const kept = await api.ok('getPermission', { params: { id: 'evidence' } })

    expect(kept).toMatchObject({
      description: 'small invoices',
      revoked_by: `key_${api.org.key.slice(4, 20)}`,
      effective: { dead: 'revoked', link: 'evidence' },
    })
    expect(kept.revoked_at).not.toBeNull()
  })

  it('lifts a deny', async () => {
    await grant('no', { agent_id: 'denied', effect: 'deny' })
    expect(await reasonOf('denied')).toBe('agent_denied')

    await revoke('no')

    expect(await reasonOf('denied')).toBe('default_allow')
  })

  it('200 for a tree that one entry cannot hold: further entries hold the rest', async () => {
    const other = api.as(await api.remit.organization())
    const long = (i: number) => `${'x'.repeat(120)}-${i}`
    const body = { agent_id: 'top', ...open }
    await other.ok('grantPermission', { params: { id: long(0) }, body })
    const rows = Array.from({ length: 1_200 }, (_, i) =>
      aPermission({
        org_id: other.org.id,
        id: long(i + 1),
        agent_id: `a${i}`,
        parent_id: long(0),
        granted_by: 'top',
      }),
    )
    for (let start = 0; start < rows.length; start += 100)
      await on<Tables>(api.remit.db)
        .insertInto('agent_permission')
        .values(rows.slice(start, start + 100))
        .execute()

    const { revoked, ledger } = await other.ok('revokePermission', { params: { id: long(0) } })

    expect(revoked).toHaveLength(1_201)
    const { data } = await other.ok('listEntries', { query: { kind: 'permission.revoked' } })
    const listed = data.toReversed().flatMap((entry) => entry.data?.['revoked'])
    expect(listed).toEqual(revoked)
    expect(data.at(-1)?.seq).toBe(ledger.seq)
  })

  it('404 for an unknown permission, a revoked one, and one of another organization', async () => {
    const other = api.as(await api.remit.organization())
    const params = { id: 'theirs' }
    await other.ok('grantPermission', { params, body: { agent_id: 'payer' } })
    const id = await tree('gone')
    await revoke(id('top'))

    const refusals = []
    for (const one of ['unknown', 'theirs', id('top'), id('below')]) {
      const { request_id: _, ...problem } = await api.refusal('revokePermission', {
        params: { id: one },
      })
      refusals.push(problem)
    }

    expect(new Set(refusals.map(({ code }) => code))).toEqual(new Set(['permission_not_found']))
    expect(new Set(refusals.map((problem) => JSON.stringify(problem))).size).toBe(1)
    expect((await other.ok('getPermission', { params })).effective).toBe(true)
    expect((await api.refusal('getPermission', { params })).code).toBe('permission_not_found')
  })

  it('403 for every role but admin', async () => {
    for (const role of ['ingest', 'approver', 'read'] as const) {
      const key = await api.remit.key(api.org.id, role)
      const problem = await api.refusal('revokePermission', { params: { id: 'x' }, key })
      expect(problem.code).toBe('role_required')
    }
  })
})
