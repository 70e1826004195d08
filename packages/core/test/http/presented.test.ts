import { contract } from '@remit/contract'
import type { Endpoint } from '@remit/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { problemOf } from './support.ts'

const ORIGIN = 'https://app.example.org'

let remit: TestRemit
let key: string
beforeAll(async () => {
  remit = await createTestRemit({ corsOrigins: [ORIGIN, 'http://localhost:5173'] })
  ;({ key } = await remit.organization())
})
afterAll(() => remit.close())

const scorers = (headers: Record<string, string>) => remit.call('GET', '/v1/scorers', { headers })

describe('X-API-Key', () => {
  it('is taken where Authorization is absent', async () => {
    expect((await scorers({ 'x-api-key': key })).status).toBe(200)
  })

  it.each([
    ['another key', () => ({ 'x-api-key': key, authorization: 'Bearer x' })],
    [
      'a wrong key beside the right one',
      () => ({ 'x-api-key': 'x', authorization: `Bearer ${key}` }),
    ],
    ['the same key', () => ({ 'x-api-key': key, authorization: `Bearer ${key}` })],
    ['nothing in one of them', () => ({ 'x-api-key': '', authorization: `Bearer ${key}` })],
    ['another scheme', () => ({ 'x-api-key': key, authorization: 'Basic eDp5' })],
  ])('beside Authorization is two credentials, which are refused: %s', async (_what, headers) => {
    expect(await problemOf(await scorers(headers()))).toMatchObject({
      status: 400,
      code: 'invalid_request',
      detail: expect.stringContaining('X-API-Key'),
    })
  })

  it.each(
    Object.entries(contract as Record<string, Endpoint>).filter(
      ([, { public: isPublic }]) => !isPublic,
    ),
  )('is refused beside Authorization by every endpoint with a key: %s', async (_name, endpoint) => {
    const path = endpoint.path.replace(/\{\w+\}/g, 'x')
    const response = await remit.call(endpoint.method, path, {
      headers: { 'x-api-key': key, authorization: `Bearer ${key}` },
      ...(endpoint.body && { body: {} }),
    })

    // This edition does not have all of them.
    expect([400, 404]).toContain(response.status)
    expect(await response.text()).toMatch(/two keys|does not exist/)
  })

  it.each([
    ['nothing', () => ''],
    ['two keys', () => `${key}, ${key}`],
    ['a scheme', () => `Bearer ${key}`],
    ['a key cut short', () => key.slice(0, -1)],
  ])('with %s is 401', async (_what, value) => {
    expect((await scorers({ 'x-api-key': value() })).status).toBe(401)
  })
})

describe('Content-Encoding', () => {
  const guard = (encoding: string) =>
    remit.call('POST', '/v1/guard', {
      key,
      body: { content: 'x' },
      headers: { 'content-encoding': encoding },
    })

  it.each(['gzip', 'br', 'deflate', 'zstd', 'x-unknown', 'identity, gzip'])(
    '%s is 415, and says what is taken',
    async (encoding) => {
      const response = await guard(encoding)
      expect(response.headers.get('accept-encoding')).toBe('identity')
      expect(await problemOf(response)).toMatchObject({
        code: 'unsupported_media_type',
        detail: 'Send the body without Content-Encoding',
      })
    },
  )

  it('identity is the body as it is', async () => {
    for (const encoding of ['identity', 'Identity'])
      expect((await guard(encoding)).status).toBe(200)
  })
})

describe('a page in a browser', () => {
  it('may call from an origin that is listed, and read the headers of the answer', async () => {
    for (const origin of [ORIGIN, 'http://localhost:5173']) {
      const response = await scorers({ origin, authorization: `Bearer ${key}` })
      expect(response.headers.get('access-control-allow-origin')).toBe(origin)
      expect(response.headers.get('access-control-expose-headers')).toContain('Retry-After')
      expect(response.headers.get('vary')).toContain('Origin')
      expect(response.headers.get('access-control-allow-credentials')).toBeNull()
    }
  })

  it('reads refusals too', async () => {
    const refused = await scorers({ origin: ORIGIN })
    expect(refused.status).toBe(401)
    expect(refused.headers.get('access-control-allow-origin')).toBe(ORIGIN)
    const missing = await remit.call('GET', '/v1/none/such', { headers: { origin: ORIGIN } })
    expect(missing.status).toBe(404)
    expect(missing.headers.get('access-control-allow-origin')).toBe(ORIGIN)
  })

  const preflight = (origin: string) =>
    remit.call('OPTIONS', '/v1/guard', {
      headers: {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type,idempotency-key',
      },
    })

  it('is told before its request what it may send', async () => {
    const response = await preflight(ORIGIN)
    expect(response.status).toBe(204)
    expect(response.headers.get('access-control-allow-methods')).toContain('POST')
    const allowed = response.headers.get('access-control-allow-headers')?.toLowerCase()
    for (const name of [
      'authorization',
      'content-type',
      'idempotency-key',
      'x-api-key',
      'if-match',
      'traceparent',
      'tracestate',
    ])
      expect(allowed).toContain(name)
  })

  it.each([
    'https://evil.example',
    'https://app.example.org.evil.example',
    'http://app.example.org',
    'https://APP.example.org',
    'https://app.example.org:8443',
    'null',
  ])('may not from %s', async (origin) => {
    const response = await scorers({ origin, authorization: `Bearer ${key}` })
    expect(response.status).toBe(200)
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
    expect(response.headers.get('vary')).toContain('Origin')
    expect((await preflight(origin)).status).toBe(405)
  })

  it('may not at all unless origins are listed', async () => {
    const plain = await createTestRemit()
    const options = { headers: { origin: ORIGIN } }
    const response = await plain.call('GET', '/v1/scorers', options)
    await plain.close()
    expect(response.headers.get('access-control-allow-origin')).toBeNull()
  })
})
