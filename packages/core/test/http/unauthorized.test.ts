import { crc32 } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generateKey } from '../../src/keys/key-text.ts'
import { endKey } from '../../src/orgs/administration.ts'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { ALL, pathOf, problemOf, standIn } from './support.ts'

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The key with its last secret character changed and its check sum right again. */
function withOtherSecret(key: string): string {
  const body = `${key.slice(0, 62)}${key[62] === 'x' ? 'y' : 'x'}`
  let [rest, sum] = [crc32(body), '']
  for (let i = 0; i < 6; i++) [rest, sum] = [Math.floor(rest / 62), `${BASE62[rest % 62]}${sum}`]
  return body + sum
}

describe('401', () => {
  let remit: TestRemit
  let orgId: string
  let key: string
  let revoked: string
  beforeAll(async () => {
    remit = await createTestRemit({ modules: [standIn] })
    const org = await remit.organization()
    orgId = org.id
    key = org.key
    revoked = await remit.key(org.id, 'admin')
    await endKey(remit.writer, org.id, `key_${revoked.slice(4, 20)}`)
  })
  afterAll(() => remit.close())

  const causes: readonly [string, () => string | undefined][] = [
    ['no header', () => undefined],
    ['an empty header', () => ''],
    ['another scheme', () => `Basic ${btoa('a:b')}`],
    ['the key alone', () => key],
    ['a scheme alone', () => 'Bearer'],
    ['two keys', () => `Bearer ${key}, Bearer ${key}`],
    ['a key and more', () => `Bearer ${key} x`],
    [
      'a mistyped key',
      () => `Bearer ${key.slice(0, 30)}${key[30] === 'a' ? 'b' : 'a'}${key.slice(31)}`,
    ],
    ['a key that was never made', () => `Bearer ${generateKey().secret}`],
    ['a known key with another secret', () => `Bearer ${withOtherSecret(key)}`],
    ['a revoked key', () => `Bearer ${revoked}`],
    ['an agent credential, where there are none', () => `Bearer ${key.replace('rmk_', 'rmc_')}`],
  ]

  it('the changed secret of these tests is a well-formed key', () => {
    const { secret } = generateKey()

    expect(withOtherSecret(secret)).not.toBe(secret)
    expect(withOtherSecret(withOtherSecret(secret)).length).toBe(secret.length)
  })

  it.each(ALL.filter(([, endpoint]) => !endpoint.public))(
    '%s does not tell why',
    async (_, endpoint) => {
      const bodies = new Set<string>()
      for (const [, header] of causes) {
        const authorization = header()
        if (endpoint.keyless && authorization === undefined) continue
        const response = await remit.call(endpoint.method, pathOf(endpoint), {
          headers: authorization === undefined ? {} : { authorization },
        })
        // RFC 6750 §3.1: an error is named only where a token was sent.
        const sent = /^Bearer +[!-~]+$/i.test(authorization ?? '')
        // RFC 6749 §5.2: OAuth clients are told the scheme that they used.
        const isBasic = endpoint.form && authorization?.startsWith('Basic ')
        expect(response.headers.get('www-authenticate')).toBe(
          isBasic
            ? 'Basic realm="remit", charset="UTF-8"'
            : `Bearer realm="remit"${sent ? ', error="invalid_token"' : ''}`,
        )
        const { request_id: _id, ...problem } = await problemOf(response, endpoint)
        bodies.add(JSON.stringify(problem))
      }

      expect([...bodies]).toHaveLength(1)
      expect([...bodies][0]).toContain('"unauthorized"')
    },
  )

  it.each([
    ['a key cut short', () => key.slice(0, -1), /^A key has 69 characters, and this text 68/],
    ['a key and more', () => `${key}"`, /^A key has 69 characters, and this text 70/],
    ['the start of a key', () => key.slice(0, 20), /^This is the display form of a key, not its/],
    ['a display form', () => 'rmc_…QeUY', /^This is the display form of a credential, not its/],
    ['a masked key', () => 'rmf_...QeUY', /^This is the display form of a credential, not its/],
    [
      'the id of a key',
      () => `key_${key.slice(4, 20)}`,
      /^This is the id of a key, not its secret$/,
    ],
    ['the id of a credential', () => `cred_${key.slice(4, 20)}`, /^This is the id of a key, not/],
  ])('says of %s that it is none, whether or not there is one', async (_, text, detail) => {
    // As bytes, which is how `curl` sends them.
    const authorization = Buffer.from(`Bearer ${text()}`).toString('latin1')
    for (const path of ['/v1/scorers', '/v1/session']) {
      const refused = await problemOf(await remit.call('GET', path, { headers: { authorization } }))
      expect(refused).toMatchObject({ status: 401, code: 'unauthorized' })
      expect(refused.detail).toMatch(detail)
    }
  })

  it.each([
    ['a body that is not JSON', '{', {}],
    ['a wrong body', '{"action":1}', {}],
    ['a body that is too large', '{'.padEnd(2 ** 21), {}],
    ['another media type', '{}', { 'content-type': 'text/plain' }],
  ])('comes before any other refusal after a key has ended: %s', async (_, body, headers) => {
    const ended = await remit.key(orgId, 'admin')
    const send = () => remit.call('POST', '/v1/authorize', { key: ended, body, headers })
    expect((await send()).status).not.toBe(401)
    await endKey(remit.writer, orgId, `key_${ended.slice(4, 20)}`)

    expect((await problemOf(await send())).code).toBe('unauthorized')
  })

  it('takes the scheme in any case and more than one blank', async () => {
    for (const authorization of [`bearer ${key}`, `BEARER ${key}`, `Bearer   ${key}`]) {
      expect((await remit.call('GET', '/v1/scorers', { headers: { authorization } })).status).toBe(
        200,
      )
    }
  })
})
