import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { cliJson, createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'
import { request, startServer } from './support/process.ts'
import { parseAnswer, RawConnection } from './support/raw-http.ts'

const isRun = inFullRun('stopping servers')

let installation: Installation
let env: Record<string, string>
let key: string

beforeAll(async () => {
  installation = await createInstallation()
  env = { ...installation.env, REMIT_LOG_LEVEL: 'silent', REMIT_RATE_LIMIT: '0' }
  key = (await createOrg(env)).key.secret
})
afterAll(() => installation.remove())

const BODY = JSON.stringify({ scorer: 'exact_match', results: [{ output: '4', expected: '4' }] })

/** A request whose header has arrived (the server asks for the body) and whose body has not. */
async function halfSent(url: string): Promise<RawConnection> {
  const connection = new RawConnection(url)
  connection.send(
    `POST /v1/scorers HTTP/1.1\r\nHost: remit\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n` +
      `Content-Length: ${BODY.length}\r\nExpect: 100-continue\r\n\r\n`,
  )
  await connection.receives('100 Continue\r\n\r\n')
  return connection
}

async function refusesConnections(url: string): Promise<void> {
  while (
    await fetch(`${url}/health`, { headers: { connection: 'close' } }).then(
      () => true,
      () => false,
    )
  );
}

describe.skipIf(!isRun).each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('lets every request that had arrived be answered, takes no more, and ends with 0', async () => {
    const { url, server } = await startServer(env)
    const idle = new RawConnection(url)
    idle.send('GET /health HTTP/1.1\r\nHost: remit\r\n\r\n')
    await idle.receives('"status":"ok"')
    const connections = await Promise.all(Array.from({ length: 50 }, () => halfSent(url)))
    const ended = server.stop(signal)
    await refusesConnections(url)
    for (const connection of connections) connection.send(BODY)
    const answers = (await Promise.all(connections.map((connection) => connection.all()))).map(
      parseAnswer,
    )

    expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200))
    for (const { headers, body } of answers) {
      expect(headers.get('connection')).toBe('close')
      expect(JSON.parse(body)).toMatchObject({ scores: [{ score: 1 }] })
    }
    expect(await idle.all()).toContain('200 OK')
    expect(await ended).toMatchObject({ code: 0, stderr: '' })
  })
})

test.skipIf(!isRun)(
  'a second signal ends a server that still waits for a request, at once',
  async () => {
    const { url, server } = await startServer(env)
    const connection = await halfSent(url)
    void server.stop()
    await refusesConnections(url)
    const { code } = await server.stop()
    connection.socket.destroy()

    expect({ code, signal: server.child.signalCode }).toEqual({ code: null, signal: 'SIGTERM' })
  },
)

describe.skipIf(!isRun || !hasModules())('SIGTERM under load', () => {
  test('every decision in the ledger was answered, and every answer is in the ledger', async () => {
    const { url, server } = await startServer(env)
    const answered: string[] = []
    const running = new AbortController()
    const client = async () => {
      while (!running.signal.aborted) {
        const response = await request(`${url}/v1/authorize`, key, 'POST', {
          agent_id: 'payer',
          action: 'pay',
        }).catch(() => null)
        if (!response) return
        expect(response.status).toBe(200)
        answered.push(((await response.json()) as { decision_id: string }).decision_id)
        if (answered.length === 200) void server.stop()
      }
    }
    await Promise.all(Array.from({ length: 32 }, client))
    running.abort()
    const { code } = await server.ended()

    const entries = await installation.database((db) =>
      db
        .selectFrom('ledger_entry')
        .select('payload')
        .where('kind', '=', 'authorization.decided')
        .execute(),
    )
    const recorded = entries.map(
      ({ payload }) =>
        (JSON.parse(payload ?? '') as { data: { decision_id: string } }).data.decision_id,
    )
    expect(code).toBe(0)
    expect(answered.length).toBeGreaterThanOrEqual(200)
    expect(answered.toSorted()).toEqual(recorded.toSorted())
    expect(await cliJson(['ledger', 'verify'], env)).toMatchObject({ status: 'ok' })
  })
})
