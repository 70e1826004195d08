import { writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { join } from 'node:path'
import { generateKey } from '@remit/core/keys'
import { generateOperatorKey, operatorKeyLine } from '@remit/core/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/settings/config.ts'
import { hasModules } from '../src/boot/modules.ts'
import { createServer } from '../src/boot/serve.ts'
import type { RunningServer } from '../src/boot/serve.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

interface Sent {
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const INTROSPECTION = '/v1/identity/introspect'
/** Every other way to present a key. */
const WAYS: Readonly<Record<string, (key: string) => Sent>> = {
  'X-API-Key': (key) => ({ headers: { 'x-api-key': key } }),
  'POST /v1/session': (key) => ({
    path: '/v1/session',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ key }),
  }),
  'the API of operators': (key) => ({
    path: '/v1/operator/organizations',
    headers: { authorization: `Bearer ${key}` },
  }),
  ...(hasModules() && {
    client_secret_basic: (key) => ({
      path: INTROSPECTION,
      headers: { ...FORM, authorization: `Basic ${btoa(`key_x:${key}`)}` },
      body: 'token=x',
    }),
    client_secret_post: (key) => ({
      path: INTROSPECTION,
      headers: FORM,
      body: `token=x&client_id=key_x&client_secret=${key}`,
    }),
  }),
}

describe('wrong keys', () => {
  let installation: Installation
  let server: RunningServer
  beforeAll(async () => {
    installation = await createInstallation()
    const env = {
      ...installation.env,
      REMIT_BOOTSTRAP_ORG: 'acme',
      REMIT_FAILED_KEY_LIMIT: '5',
      REMIT_LOG_LEVEL: 'silent',
      REMIT_OPERATOR_KEYS_FILE: join(installation.folder, 'operators'),
    }
    writeFileSync(env.REMIT_OPERATOR_KEYS_FILE, operatorKeyLine('ada', generateOperatorKey()))
    server = await createServer(readConfig(env), { env })
  })
  afterAll(async () => {
    await server.stop()
    await installation.remove()
  })

  /** One request from an address of this machine. */
  const send = (localAddress: string, { path = '/v1/scorers', headers, body }: Sent) =>
    new Promise<{ status: number | undefined; retryAfter: string | undefined }>(
      (resolve, reject) => {
        const { port } = new URL(server.url)
        const method = body === undefined ? 'GET' : 'POST'
        const target = { host: '127.0.0.1', port, path, method, headers, localAddress }
        httpRequest(target, (response) => {
          response.resume()
          resolve({ status: response.statusCode, retryAfter: response.headers['retry-after'] })
        })
          .on('error', reject)
          .end(body)
      },
    )
  const ask = (authorization: string | null, localAddress = '127.0.0.1') =>
    send(localAddress, authorization === null ? {} : { headers: { authorization } })
  const wrong = () => `Bearer ${generateKey().secret}`

  test('are 429 above the limit of their address; a good key and no key are not', async () => {
    for (let i = 0; i < 5; i++) expect((await ask(wrong())).status).toBe(401)
    const limited = await ask(wrong())
    expect(limited.status).toBe(429)
    expect(Number(limited.retryAfter)).toBeGreaterThan(0)

    for (let i = 0; i < 10; i++)
      expect((await ask(`Bearer ${server.first?.secret}`)).status).toBe(200)
    expect((await ask(null)).status).toBe(401)
  })

  test('of one address do not count against another', async () => {
    expect((await ask(wrong(), '127.0.0.2')).status).toBe(401)
    expect((await ask(wrong())).status).toBe(429)
  })

  // Together: a 429 keeps its client waiting.
  test.concurrent.each(Object.entries(WAYS))('by %s count too', async (name, presenting) => {
    const address = `127.0.1.${1 + Object.keys(WAYS).indexOf(name)}`
    const status = async () => (await send(address, presenting(generateKey().secret))).status

    for (let i = 0; i < 5; i++) expect(await status()).toBe(401)
    expect(await status()).toBe(429)
  })
})
