import { contract, TOKEN_EXCHANGE } from '@remit/contract'
import { setSettings } from '@remit/core/orgs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AUDIENCE, BASE_URL, createFederation, JWT } from '../support/federation.ts'
import type { Federation } from '../support/federation.ts'

const PATH = '/v1/identity/token'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

let f: Federation
beforeAll(async () => {
  f = await createFederation()
  await f.agent('agent-a')
})
afterAll(() => f.remit.close())
// An agent has few live credentials; those of the test before have ended.
beforeEach(() => f.clock.advance(3_600_000))

const refusal = async (response: Response) => {
  const { error } = (await response.json()) as { error: string }
  return { status: response.status, error }
}
const fields = (more: Readonly<Record<string, string>> = {}) =>
  new URLSearchParams({
    grant_type: TOKEN_EXCHANGE,
    subject_token: f.token(),
    subject_token_type: JWT,
    ...more,
  }).toString()

describe('a request for a token', () => {
  it('without a key is 401 where no organization takes such requests, whatever its body', async () => {
    for (const body of [fields(), '', 'grant_type=password']) {
      const response = await f.remit.call('POST', PATH, { body, headers: FORM })
      expect(response.headers.get('www-authenticate')).toBe('Bearer realm="remit"')
      expect(await refusal(response)).toEqual({ status: 401, error: 'invalid_client' })
    }
    const json = await f.remit.call('POST', PATH, { body: {} })
    expect(json.status).toBe(401)
  })

  it.each([
    ' authorize',
    'authorize ',
    'authorize  guard',
    'authorize\tguard',
    'a"b',
    'ä',
    '\u00a0',
  ])('with the scope %j is refused as malformed, and its token stays unused', async (scope) => {
    const token = f.token()
    const response = await f.exchange(token, { scope })
    const message =
      'must be scopes of printable ASCII without quotation marks and backslashes, separated by single spaces'
    expect(await response.clone().json()).toMatchObject({
      error_description: `scope: ${message}`,
      errors: [{ path: 'scope', message }],
    })
    expect(await refusal(response)).toEqual({ status: 400, error: 'invalid_scope' })
    expect(await f.exchanged(token, { scope: 'authorize guard' })).toMatchObject({
      scope: 'authorize guard',
    })
  })

  it('of another grant is unsupported_grant_type, whatever else is missing', async () => {
    for (const grant_type of ['client_credentials', 'password', 'x']) {
      const sent = [{ grant_type }, { grant_type, subject_token: 1 }, { grant_type, scope: ' ' }]
      for (const body of sent) {
        const response = await f.post(PATH, body)
        const message = `must be ${TOKEN_EXCHANGE}`
        expect(await response.clone().json()).toMatchObject({
          error_description: `grant_type: ${message}`,
          errors: [{ path: 'grant_type', message }],
        })
        expect(await refusal(response)).toEqual({ status: 400, error: 'unsupported_grant_type' })
      }
    }
    expect(await refusal(await f.post(PATH, { subject_token: 'x' }))).toEqual({
      status: 400,
      error: 'invalid_request',
    })
    expect(await refusal(await f.post(PATH, { grant_type: TOKEN_EXCHANGE }))).toEqual({
      status: 400,
      error: 'invalid_request',
    })
  })

  it('may name the server as its resource, and no other', async () => {
    for (const resource of [BASE_URL, `${BASE_URL}/`, AUDIENCE])
      await f.exchanged(f.token(), { resource })
    for (const resource of ['https://gov.example.org', `${BASE_URL}/v1`, `${BASE_URL}//`])
      expect(await refusal(await f.exchange(f.token(), { resource }))).toEqual({
        status: 400,
        error: 'invalid_target',
      })
    expect(await refusal(await f.exchange(f.token(), { audience: BASE_URL }))).toEqual({
      status: 400,
      error: 'invalid_target',
    })
  })
})

describe('client authentication', () => {
  const idOf = (key: string) => `key_${key.slice(4, 20)}`
  const basic = (id: string, secret: string) => ({
    ...FORM,
    authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
  })
  const send = (headers: Record<string, string>, more = {}, path = PATH) =>
    f.remit.call('POST', path, { body: fields(more), headers })
  const other = () => f.remit.organization()

  it('takes client_secret_basic, and names Basic when it refuses it', async () => {
    expect((await send(basic(idOf(f.org.key), f.org.key))).status).toBe(200)
    const foreign = await other()
    const wrong = [
      basic('key_x', f.org.key),
      basic(idOf(foreign.key), f.org.key),
      basic(idOf(f.org.key), foreign.key),
      basic(idOf(f.org.key), `${f.org.key.slice(0, -1)}%`),
      basic(f.org.key, ''),
      ...['Basic', 'Basic =', 'Basic !!!', 'basic YTpi YTpi'].map((authorization) => ({
        ...FORM,
        authorization,
      })),
    ]
    for (const headers of wrong) {
      const response = await send(headers)
      expect(response.headers.get('www-authenticate')).toMatch(/^Basic realm="remit"/)
      expect(await refusal(response)).toEqual({ status: 401, error: 'invalid_client' })
    }
  })

  it('takes client_secret_post, in a form and in JSON', async () => {
    const client = { client_id: idOf(f.org.key), client_secret: f.org.key }
    expect((await send(FORM, client)).status).toBe(200)
    const body = { ...Object.fromEntries(new URLSearchParams(fields())), ...client }
    expect((await f.remit.call('POST', PATH, { body })).status).toBe(200)
    for (const wrong of [{ client_id: 'key_x' }, { client_secret: 'x' }]) {
      const response = await send(FORM, { ...client, ...wrong })
      expect(await refusal(response)).toEqual({ status: 401, error: 'invalid_client' })
    }
  })

  it('is one of them: two in one request are refused, also by the endpoints for tools', async () => {
    const client = { client_id: idOf(f.org.key), client_secret: f.org.key }
    const keys = [
      basic(idOf(f.org.key), f.org.key),
      { ...FORM, authorization: `Bearer ${f.org.key}` },
      { ...FORM, 'x-api-key': f.org.key },
    ]
    for (const headers of keys) {
      expect(await refusal(await send(headers, client))).toMatchObject({
        status: 400,
        error: 'invalid_request',
      })
      for (const path of ['/v1/identity/introspect', '/v1/identity/revoke']) {
        const body = new URLSearchParams({ token: 'x', ...client }).toString()
        expect((await f.remit.call('POST', path, { body, headers })).status, path).toBe(400)
      }
      expect((await send(headers, { client_id: client.client_id })).status).toBe(200)
    }
  })

  it('is taken by the endpoints for tools too, and by no other endpoint', async () => {
    const { access_token: token } = await f.exchanged(f.token())
    const client = basic(idOf(f.org.key), f.org.key)
    for (const path of ['/v1/identity/introspect', '/v1/identity/revoke']) {
      const response = await f.remit.call('POST', path, { body: `token=${token}`, headers: client })
      expect(response.status, path).toBe(200)
      expect((await f.remit.call('POST', path, { body: 'token=x', headers: FORM })).status).toBe(
        401,
      )
    }
    const { authorization } = client
    const list = await f.remit.call('GET', '/v1/identity/idp', { headers: { authorization } })
    expect(list.status).toBe(401)
  })

  it('with a wrong secret is refused also where requests without a key are taken', async () => {
    await setSettings(f.remit.writer, f.org.id, { keyless_exchange: true })
    const response = await send(FORM, { client_id: idOf(f.org.key), client_secret: 'wrong' })
    expect(response.status).toBe(401)
    expect((await send(FORM, { client_id: 'pipeline' })).status).toBe(200)
  })

  it('with an encoded body is 415, whether the body was read for it or not', async () => {
    const bearer = { authorization: `Bearer ${f.org.key}` }
    for (const headers of [{}, bearer, { 'content-type': 'application/json' }]) {
      const response = await send({ ...FORM, 'content-encoding': 'gzip', ...headers })
      expect(response.headers.get('accept-encoding')).toBe('identity')
      expect(await refusal(response)).toEqual({ status: 415, error: 'invalid_request' })
    }
  })
})

describe.each(Object.values(contract).flatMap((row) => ('form' in row ? [row.path] : [])))(
  'a refusal of %s is one of OAuth',
  (path) => {
    it('for a wrong secret, and names what a client sends', async () => {
      const authorization = `Basic ${btoa(`key_${f.org.key.slice(4, 20)}:x`)}`
      const request = { headers: { ...FORM, authorization }, body: 'token=x' }
      const response = await f.remit.call('POST', path, request)
      expect(response.headers.get('content-type')).toBe('application/json')
      expect(await response.clone().json()).toMatchObject({
        error_description: expect.stringContaining('client_secret') as string,
      })
      expect(await refusal(response)).toEqual({ status: 401, error: 'invalid_client' })
    })

    it('for another method, which no client takes for a token', async () => {
      const response = await f.remit.call('GET', path)
      expect(response.headers.get('allow')).toBe('POST')
      expect(await refusal(response)).toEqual({ status: 405, error: 'invalid_request' })
    })
  },
)
