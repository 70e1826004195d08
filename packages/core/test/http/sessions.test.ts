import { authorize } from '@remit/contract'
import type { Session } from '@remit/contract'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { fail } from '../../src/base/errors.ts'
import { implement } from '../../src/http/endpoint.ts'
import { defineModule } from '../../src/module/module.ts'
import { endKey, rotateKey } from '../../src/orgs/administration.ts'
import { createClock, createTestRemit, DIALECTS } from '@remit/testing'
import type { TestClock, TestRemit } from '@remit/testing'

const OWN = { 'sec-fetch-site': 'same-origin' }
const MINUTE = 60_000
const HOUR = 60 * MINUTE

const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code
const cookieOf = (response: Response) => response.headers.get('set-cookie')?.split(';')[0] ?? ''
const keyIdOf = (key: string) => `key_${key.slice(4, 20)}`

describe.each(DIALECTS)('sessions on %s', (dialect) => {
  let clock: TestClock
  let remit: TestRemit
  let other: TestRemit
  beforeAll(async () => {
    clock = createClock()
    remit = await createTestRemit({ dialect, clock })
    other = await createTestRemit({ url: remit.url, clock, signingKey: remit.signingKey })
  })
  afterAll(async () => {
    await other.close()
    await remit.close()
  })

  const signIn = async (key: string) => {
    const response = await remit.call('POST', '/v1/session', { body: { key }, headers: OWN })
    expect([response.status, await response.text()]).toEqual([204, ''])
    return cookieOf(response)
  }
  const get = async (cookie?: string, from = remit) => {
    const headers = cookie === undefined ? {} : { cookie }
    const response = await from.call('GET', '/v1/session', { headers })
    expect(response.status).toBe(200)
    return (await response.json()) as Session
  }
  const guard = (headers: Record<string, string>, from = remit) =>
    from.call('POST', '/v1/guard', { body: { content: 'hello' }, headers: { ...OWN, ...headers } })

  it('without a key or cookie, say how to sign in and list the open endpoints only', async () => {
    expect(await get()).toEqual({
      principal: null,
      organization: null,
      edition: 'community',
      evaluation: false,
      license: null,
      endpoints: ['DELETE /v1/session', 'GET /v1/session', 'POST /v1/session'],
      login: { key: true, oidc: null, organizations: false },
    })
  })

  it('a key becomes a cookie that pages cannot read, with the rights of the key', async () => {
    const { id, key } = await remit.organization('free')
    const response = await remit.call('POST', '/v1/session', { body: { key }, headers: OWN })
    expect(response.headers.get('set-cookie')).toMatch(
      /^__Host-remit_session=[\w-]{43}\.org_\w+; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
    const session = await get(cookieOf(response))
    expect(session.principal).toEqual({
      type: 'key',
      id: keyIdOf(key),
      name: null,
      email: null,
      role: 'admin',
    })
    expect(session.organization).toMatchObject({ id, plan: 'free' })
    expect(session.endpoints).toContain('POST /v1/guard')
    expect((await guard({ cookie: cookieOf(response) })).status).toBe(200)
  })

  it('a key has at most 20 sessions: a further sign-in ends the oldest', async () => {
    const { key } = await remit.organization('free')
    const { key: another } = await remit.organization('free')
    const others = await signIn(another)
    const cookies: string[] = []
    for (let i = 0; i < 22; i++) {
      clock.advance(1)
      cookies.push(await signIn(key))
    }
    const principals = await Promise.all(
      cookies.map(async (cookie) => (await get(cookie)).principal),
    )

    expect(principals.map((principal) => principal !== null)).toEqual([
      false,
      false,
      ...Array.from({ length: 20 }, () => true),
    ])
    expect((await get(others)).principal).not.toBeNull()
  })

  it('a key that signs in too often waits', async () => {
    const limited = await createTestRemit({ dialect, clock, rateLimit: 3 })
    const { key } = await limited.organization('free')
    const statuses: number[] = []
    for (let i = 0; i < 4; i++)
      statuses.push(
        (await limited.call('POST', '/v1/session', { body: { key }, headers: OWN })).status,
      )
    await limited.close()

    expect(statuses).toEqual([204, 204, 204, 429])
  })

  it('the database has no cookie', async () => {
    const { id, key } = await remit.organization('free')
    const cookie = await signIn(key)
    const row = await remit.db
      .selectFrom('console_session')
      .selectAll()
      .where('org_id', '=', id)
      .executeTakeFirstOrThrow()
    expect(JSON.stringify(row)).not.toContain(cookie.split('=')[1])
  })

  it('a key that is wrong, revoked or of an agent starts none', async () => {
    const { id, key } = await remit.organization()
    await endKey(remit.writer, id, keyIdOf(key))
    for (const text of [key, 'rmk_x', 'rmc_'.padEnd(69, 'a'), 'x y']) {
      const response = await remit.call('POST', '/v1/session', {
        body: { key: text },
        headers: OWN,
      })
      expect([response.status, response.headers.get('set-cookie')]).toEqual([401, null])
    }
  })

  it.each([
    [
      'sign-out',
      (cookie: string) => remit.call('DELETE', '/v1/session', { headers: { cookie, ...OWN } }),
    ],
    [
      'the revocation of its key',
      (_: string, id: string, key: string) => endKey(remit.writer, id, keyIdOf(key)),
    ],
    [
      'the rotation of its key',
      (_: string, id: string, key: string) => rotateKey(remit.writer, id, keyIdOf(key)),
    ],
  ])('%s ends a session at once, on every process', async (_, end) => {
    const { id, key } = await remit.organization('free')
    const cookie = await signIn(key)
    expect((await get(cookie, other)).principal).not.toBeNull()
    await end(cookie, id, key)
    for (const from of [remit, other]) {
      expect((await get(cookie, from)).principal).toBeNull()
      expect((await guard({ cookie }, from)).status).toBe(401)
    }
  })

  it('an hour without a request ends a session, and twelve hours end every one', async () => {
    const { key } = await remit.organization('free')
    const idle = await signIn(key)
    clock.advance(HOUR - 1)
    expect((await get(idle)).principal).not.toBeNull()
    clock.advance(HOUR)
    expect((await get(idle)).principal).toBeNull()

    const busy = await signIn(key)
    for (let passed = 0; passed < 12 * HOUR - 30 * MINUTE; passed += 30 * MINUTE) {
      expect((await get(busy)).principal).not.toBeNull()
      clock.advance(30 * MINUTE)
    }
    clock.advance(30 * MINUTE)
    expect((await get(busy)).principal).toBeNull()
  })

  it('another look at the rights of a request that waits does not prolong its session', async () => {
    const waiting = defineModule({
      name: 'waiting',
      setup: () => ({
        routes: implement(authorize, {
          authorize: async (_, __, request) => {
            clock.advance(40 * MINUTE)
            await request.recheck()
            throw fail('overloaded')
          },
        }),
      }),
    })
    const { url, signingKey } = remit
    const third = await createTestRemit({ url, clock, signingKey, modules: [waiting] })
    onTestFinished(() => third.close())
    const { key } = await remit.organization('team')
    const cookie = await signIn(key)
    const body = { agent_id: 'a', action: 'b.c' }

    const answer = await third.call('POST', '/v1/authorize', { body, headers: { ...OWN, cookie } })
    expect(await codeOf(answer)).toBe('overloaded')

    clock.advance(20 * MINUTE)
    expect((await get(cookie)).principal).toBeNull()
  })

  it('work that waits for the writer is refused when the session ends before it', async () => {
    const { id, key } = await remit.organization()
    const cookie = await signIn(key)
    const hash = (
      await remit.db
        .selectFrom('console_session')
        .select('hash')
        .where('org_id', '=', id)
        .executeTakeFirstOrThrow()
    ).hash
    const caller = {
      orgId: id,
      plan: 'enterprise' as const,
      principal: {
        type: 'key' as const,
        id: keyIdOf(key),
        role: 'admin' as const,
        person: null,
        session: hash,
      },
      configVersion: 1,
    }
    const work = () =>
      remit.writer.work(id, { caller, claim: null, wantsNote: false }, () =>
        Promise.resolve({ entries: [], reply: () => 'done' }),
      )
    expect(await work()).toBe('done')
    await remit.call('DELETE', '/v1/session', { headers: { cookie, ...OWN } })
    await expect(work()).rejects.toMatchObject({ code: 'unauthorized' })
  })

  it('a cookie is ignored beside a key', async () => {
    const { key } = await remit.organization('free')
    const cookie = await signIn(key)
    const wrong = await remit.call('GET', '/v1/session', { key: 'rmk_x', headers: { cookie } })
    expect(wrong.status).toBe(401)
    const cross = await remit.call('POST', '/v1/guard', {
      key,
      body: { content: 'x' },
      headers: { cookie, 'sec-fetch-site': 'cross-site' },
    })
    expect(cross.status).toBe(200)
    const apiKey = await remit.call('GET', '/v1/session', { headers: { cookie, 'x-api-key': 'x' } })
    expect(apiKey.status).toBe(401)
  })

  describe('a page of another origin', () => {
    let cookie: string
    beforeAll(async () => {
      cookie = await signIn((await remit.organization()).key)
    })

    it.each([
      [{ 'sec-fetch-site': 'cross-site' }],
      [{ 'sec-fetch-site': 'same-site' }],
      [{ 'sec-fetch-site': 'none' }],
      [{ 'sec-fetch-site': 'cross-site', origin: 'https://remit.test' }],
      [{ origin: 'https://evil.test' }],
      [{ origin: 'null' }],
      [{ origin: 'https://remit.test.evil.test' }],
      [{}],
    ])('%j changes nothing, signs nobody in and nobody out', async (headers) => {
      const send = (method: string, path: string, body?: unknown) =>
        remit.call(method, path, {
          body,
          headers: { cookie, ...headers },
        })
      for (const response of [
        await send('POST', '/v1/guard', { content: 'x' }),
        await send('POST', '/v1/session', { key: 'rmk_x' }),
        await send('DELETE', '/v1/session'),
      ])
        expect([response.status, await codeOf(response)]).toEqual([403, 'csrf_refused'])
      expect((await get(cookie)).principal).not.toBeNull()
    })

    it('cannot send a form or text', async () => {
      for (const type of [
        'application/x-www-form-urlencoded',
        'text/plain',
        'multipart/form-data',
      ]) {
        const response = await guard({ cookie, 'content-type': type })
        expect(response.status).toBe(415)
      }
    })

    it('an own page without fetch metadata is known by its origin', async () => {
      const response = await remit.call('POST', '/v1/guard', {
        body: { content: 'x' },
        headers: { cookie, origin: 'https://remit.test' },
      })
      expect(response.status).toBe(200)
    })
  })

  it.each([
    '',
    ';;;',
    '__Host-remit_session',
    '__Host-remit_session=',
    '__Host-remit_session=%00',
    `__Host-remit_session=${'a'.repeat(8000)}`,
    '__Host-remit_session="; x=',
    'remit_session_80=a',
  ])('the cookie %j is none', async (cookie) => {
    expect((await get(cookie)).principal).toBeNull()
    expect((await guard({ cookie })).status).toBe(401)
  })

  it.each([
    [{}],
    [{ key: '' }],
    [{ key: 1 }],
    [{ key: 'a', more: 1 }],
    [[]],
    [{ key: 'a'.repeat(257) }],
  ])('the body %j is refused and names the field', async (body) => {
    const response = await remit.call('POST', '/v1/session', { body, headers: OWN })
    expect(response.status).toBe(400)
  })

  it('a link signs in once, within ten minutes, on this machine only', async () => {
    const { id, key } = await remit.organization()
    const path = () => remit.loginPath({ orgId: id, keyId: keyIdOf(key) })
    const open = (at: string, address = '127.0.0.1', headers = {}) =>
      remit.app.request(
        at,
        { headers },
        { incoming: { headers, socket: { remoteAddress: address } } },
      )
    const link = path()
    expect((await open(link, '192.0.2.1')).status).toBe(403)
    expect((await open(link, '::1', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    const used = await open(link, '::ffff:127.0.0.1')
    expect([used.status, used.headers.get('location')]).toEqual([303, '/console'])
    expect((await get(cookieOf(used))).principal).toMatchObject({ id: keyIdOf(key) })
    expect((await open(link)).status).toBe(410)
    const late = path()
    clock.advance(10 * MINUTE)
    expect((await open(late)).status).toBe(410)
    expect((await open('/console/start?token=x&token=y')).status).toBe(410)
    expect((await open('/console/start')).status).toBe(410)
  })
})

describe('sign-in with keys', () => {
  it('can be switched off; keys in headers still work', async () => {
    const remit = await createTestRemit({ keyLogin: false })
    const { key } = await remit.organization('free')
    const refused = await remit.call('POST', '/v1/session', { body: { key }, headers: OWN })
    const known = await remit.call('GET', '/v1/session', { key })
    expect([refused.status, await codeOf(refused)]).toEqual([403, 'key_login_off'])
    expect((await known.json()) as Session).toMatchObject({
      principal: { type: 'key' },
      login: { key: false },
    })
    await remit.close()
  })
})
