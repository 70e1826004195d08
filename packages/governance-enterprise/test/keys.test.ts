import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'

describe.each(someDialects())('/v1/keys on %s', (dialect) => {
  let whole: Api
  let api: Api
  beforeAll(async () => {
    whole = await createApi({ dialect, clock: createClock(NOW) })
  })
  beforeEach(async () => {
    api = whole.as(await whole.remit.organization())
  })
  afterAll(() => whole.remit.close())

  const idOf = (secret: string) => `key_${secret.slice(4, 20)}`
  const statusWith = async (key: string | null) =>
    (await api.call('getOrganization', { key: key ?? '' })).status
  const newest = async (count: number) => {
    const { size } = await api.remit.ledger.head(api.org.id)
    return Promise.all(
      Array.from({ length: count }, (_, i) => api.remit.ledger.entry(api.org.id, size - count + i)),
    )
  }

  it('POST: 201 with a working key; its entry names the creator, not the secret', async () => {
    const body = { role: 'read', person: 'ada@example.org', name: 'console' }
    const response = await api.call('createKey', { body })

    expect(response.status).toBe(201)
    const { key, secret } = (await response.json()) as { key: object; secret: string }
    expect(secret).toMatch(/^rmk_[0-9A-Za-z]{65}$/)
    expect(key).toEqual({ id: idOf(secret), ...body, created_at: NOW, revoked_at: null })
    expect(await statusWith(secret)).toBe(200)
    const [entry] = await newest(1)
    expect(entry).toMatchObject({
      kind: 'key.created',
      actor: { type: 'key', id: idOf(api.org.key) },
      data: { key: { id: idOf(secret), ...body } },
    })
    expect(JSON.stringify(entry)).not.toContain(secret.slice(20, 63))
  })

  it('POST: a repeat of its Idempotency-Key makes no second key and shows no secret', async () => {
    const call = { body: { role: 'ingest' }, headers: { 'idempotency-key': 'k' } }
    const first = await api.ok('createKey', call)

    expect(await api.ok('createKey', call)).toEqual({
      ...first,
      secret: null,
      secret_available: false,
    })
    expect((await api.ok('listKeys')).data).toHaveLength(2)
  })

  it.each([
    ['no role', {}, 'role'],
    ['a role that there is not', { role: 'owner' }, 'role'],
    ['a person who is no e-mail address', { role: 'read', person: 'ada' }, 'person'],
    ['a name of two lines', { role: 'read', name: 'a\nb' }, 'name'],
    ['a secret of its own', { role: 'read', secret: 'x' }, 'secret'],
  ])('POST: 400 for %s', async (_, body, path) => {
    const problem = await api.refusal('createKey', { body })

    expect(problem.errors?.map((error) => error.path)).toEqual([path])
  })

  it('GET lists keys in pages, the oldest first, revoked ones too, without secrets', async () => {
    const made = []
    for (let i = 0; i < 4; i++) made.push(await api.ok('createKey', { body: { role: 'read' } }))
    await api.ok('revokeKey', { params: { id: made[2]!.key.id } })

    const first = await api.ok('listKeys', { query: { limit: 3 } })
    const rest = await api.ok('listKeys', { query: { limit: 3, cursor: first.next_cursor ?? '' } })

    const all = [...first.data, ...rest.data]
    expect(rest.next_cursor).toBeNull()
    expect(new Set(all.map(({ id }) => id))).toEqual(
      new Set([idOf(api.org.key), ...made.map(({ key }) => key.id)]),
    )
    expect(all.filter(({ revoked_at: at }) => at !== null).map(({ id }) => id)).toEqual([
      made[2]!.key.id,
    ])
    expect((await api.refusal('listKeys', { query: { cursor: 'x' } })).status).toBe(400)
  })

  it('rotate: 201 with a successor; the old key ends at once', async () => {
    const old = await api.ok('createKey', { body: { role: 'approver', person: 'ada@example.org' } })

    const next = await api.ok('rotateKey', { params: { id: old.key.id } })

    expect(next.key).toMatchObject({ role: 'approver', person: 'ada@example.org' })
    expect([await statusWith(old.secret), await statusWith(next.secret)]).toEqual([401, 200])
    expect(await newest(2)).toMatchObject([
      { kind: 'key.created', data: { key: { id: next.key.id }, rotated_from: old.key.id } },
      { kind: 'key.revoked', data: { key_id: old.key.id } },
    ])
  })

  it('a key can rotate itself, also the only one', async () => {
    const next = await api.ok('rotateKey', { params: { id: idOf(api.org.key) } })

    expect([await statusWith(api.org.key), await statusWith(next.secret)]).toEqual([401, 200])
  })

  it('DELETE: 200, and the next call with it is 401; twice is 404', async () => {
    const { key, secret } = await api.ok('createKey', { body: { role: 'read' } })
    const call = { params: { id: key.id } }

    expect(await api.ok('revokeKey', call)).toMatchObject({ id: key.id, revoked_at: NOW })

    expect(await statusWith(secret)).toBe(401)
    expect((await api.refusal('revokeKey', call)).code).toBe('key_not_found')
    expect((await api.refusal('rotateKey', call)).code).toBe('key_not_found')
  })

  it('DELETE: 409 for the only key that can administer, however many others there are', async () => {
    await api.ok('createKey', { body: { role: 'read' } })
    const call = { params: { id: idOf(api.org.key) } }
    expect((await api.refusal('revokeKey', call)).code).toBe('last_admin_key')
    expect(await statusWith(api.org.key)).toBe(200)
    const { secret } = await api.ok('createKey', { body: { role: 'admin' } })

    expect((await api.call('revokeKey', call)).status).toBe(200)

    expect(
      (await api.refusal('revokeKey', { params: { id: idOf(secret ?? '') }, key: secret ?? '' }))
        .code,
    ).toBe('last_admin_key')
  })

  it("another organization's keys are as unknown ones, byte for byte", async () => {
    const other = api.as(await api.remit.organization())
    const theirs = await other.ok('createKey', { body: { role: 'read' } })
    for (const name of ['revokeKey', 'rotateKey'] as const) {
      const bodyFor = async (id: string) =>
        JSON.stringify({
          ...(await api.refusal(name, { params: { id } })),
          request_id: '',
        }).replaceAll(id, '')
      expect(await bodyFor(theirs.key.id)).toBe(await bodyFor(`key_${'0'.repeat(16)}`))
    }
    expect((await other.call('getOrganization', { key: theirs.secret ?? '' })).status).toBe(200)
  })

  it('403 for every role but admin', async () => {
    for (const role of ['ingest', 'approver', 'read'] as const) {
      const key = await api.remit.key(api.org.id, role)
      const codes = [
        await api.refusal('listKeys', { key }),
        await api.refusal('createKey', { key, body: { role: 'read' } }),
        await api.refusal('rotateKey', { key, params: { id: idOf(key) } }),
        await api.refusal('revokeKey', { key, params: { id: idOf(key) } }),
      ].map(({ code }) => code)
      expect(codes).toEqual(Array(4).fill('role_required'))
    }
  })
})
