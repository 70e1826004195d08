import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../src/settings/config.ts'
import { createServer } from '../src/boot/serve.ts'
import type { RunningServer } from '../src/boot/serve.ts'
import { createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { startServer } from './support/process.ts'
import type { RunningProcess } from './support/process.ts'
import { parseAnswer, RawConnection } from './support/raw-http.ts'

function expectProblem(text: string, status: number, code: string): void {
  const answer = parseAnswer(text)
  expect(answer.status).toBe(status)
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(answer.headers.get('connection')).toBe('close')
  const body = JSON.parse(answer.body) as Record<string, unknown>
  expect(body).toMatchObject({ type: `urn:remit:problem:${code}`, status, code })
  expect(body['request_id']).toBe(answer.headers.get('x-request-id'))
}

describe('what is not HTTP as it should be', () => {
  let installation: Installation
  let server: RunningProcess
  let url: string
  let key: string
  beforeAll(async () => {
    installation = await createInstallation()
    key = (await createOrg(installation.env)).key.secret
    ;({ url, server } = await startServer(installation.env))
  })
  afterAll(() => installation.remove())

  const send = (text: string): Promise<string> => {
    const connection = new RawConnection(url)
    connection.send(text)
    return connection.all()
  }

  test.each([
    ['no request line', 'hello\r\n\r\n', 400, 'invalid_request'],
    [
      'TLS on the plain port',
      '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'two lengths',
      'POST /v1/guard HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
      400,
      'invalid_request',
    ],
    [
      'a length and chunks',
      'POST /v1/guard HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'two Host headers',
      'GET /health HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'two Host headers that are the same',
      'GET /health HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'a header line without a colon',
      'GET /health HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n',
      400,
      'invalid_request',
    ],
    [
      'a header of 4 MiB, most of it never read',
      `GET /health HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(4 * 1024 * 1024)}\r\n\r\n`,
      431,
      'header_too_large',
    ],
    [
      'a header of 20 KiB',
      `GET /health HTTP/1.1\r\nHost: x\r\nX-Big: ${'a'.repeat(20 * 1024)}\r\n\r\n`,
      431,
      'header_too_large',
    ],
  ])('%s is answered with a problem document', async (_what, text, status, code) => {
    expectProblem(await send(text), status, code)
  })

  test('a header of 15 KiB is taken', async () => {
    expect(
      parseAnswer(
        await send(
          `GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-Big: ${'a'.repeat(15 * 1024)}\r\n\r\n`,
        ),
      ).status,
    ).toBe(200)
  })

  test('nonsense after a request does not take the place of its answer', async () => {
    const body = JSON.stringify({ content: 'hello' })
    const received = await send(
      `POST /v1/guard HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
        `Content-Length: ${body.length}\r\n\r\n${body}nonsense\r\n\r\n`,
    )
    const statuses = [...received.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)

    // The malformed request gets an answer only if the first one left the connection open.
    expect(statuses[0]).toBe('200')
    expect(received).toContain('"action":"allow"')
  })

  test('none of it is an error of the server, and it stops as usual', async () => {
    const { code, stderr } = await server.stop()
    const errors = stderr.split('\n').filter((line) => line.includes('"level":50'))

    expect({ code, errors }).toEqual({ code: 0, errors: [] })
  })
})

describe('a request that takes too long to arrive', () => {
  let installation: Installation
  let server: RunningServer
  const errors: string[] = []
  beforeAll(async () => {
    installation = await createInstallation()
    const log = pino({ level: 'error' }, { write: (line: string) => void errors.push(line) })
    const config = readConfig({ ...installation.env, REMIT_BOOTSTRAP_ORG: 'acme' })
    server = await createServer(config, { requestTimeoutMs: 300, log })
  })
  afterAll(async () => {
    await server.stop()
    await installation.remove()
  })

  test.each([
    ['in its header', 'GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    [
      'in its body',
      'POST /v1/guard HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer KEY\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"content":',
    ],
  ])('%s is answered with a problem document', async (_where, text) => {
    const connection = new RawConnection(server.url)
    connection.send(text.replace('KEY', server.first?.secret ?? ''))

    expectProblem(await connection.all(), 408, 'request_timeout')
  })

  test('is not an error of the server', async () => {
    await server.stop()

    expect(errors).toEqual([])
  })
})

test.each([
  ['620', {}],
  ['75', { REMIT_KEEP_ALIVE_SECONDS: '75' }],
])('an unused connection stays open for %s seconds with %j', async (seconds, env) => {
  const installation = await createInstallation()
  const config = readConfig({ ...installation.env, ...env })
  const server = await createServer(config, { log: pino({ level: 'silent' }) })
  const { headers } = await fetch(`${server.url}/health`)
  await server.stop()
  await installation.remove()

  expect(headers.get('keep-alive')).toBe(`timeout=${seconds}`)
})
