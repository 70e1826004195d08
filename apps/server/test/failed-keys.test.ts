import { request as httpRequest } from 'node:http'
import { generateKey } from '@remit/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/settings/config.ts'
import { createServer } from '../src/boot/serve.ts'
import type { RunningServer } from '../src/boot/serve.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

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
    }
    server = await createServer(readConfig(env), { env })
  })
  afterAll(async () => {
    await server.stop()
    await installation.remove()
  })

  /** One request from an address of this machine. */
  const ask = (authorization: string | null, localAddress = '127.0.0.1') =>
    new Promise<{ status: number | undefined; retryAfter: string | undefined }>(
      (resolve, reject) => {
        const headers = authorization === null ? {} : { authorization }
        const { port } = new URL(server.url)
        const target = { host: '127.0.0.1', port, path: '/v1/scorers', headers, localAddress }
        httpRequest(target, (response) => {
          response.resume()
          resolve({ status: response.statusCode, retryAfter: response.headers['retry-after'] })
        })
          .on('error', reject)
          .end()
      },
    )
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
})
