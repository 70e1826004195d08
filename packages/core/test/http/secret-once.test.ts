import { endpoint } from '@remit/contract'
import type { Endpoint } from '@remit/contract'
import type { Hono } from 'hono'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createApp } from '../../src/http/app.ts'
import { Bodies } from '../../src/http/body.ts'
import { RequestTurns } from '../../src/http/limits.ts'
import { Deadlines } from '../../src/http/pipeline.ts'
import { RunningClaims } from '../../src/http/idempotency.ts'
import { createMetrics } from '../../src/telemetry/metrics.ts'
import { Reply, implement } from '../../src/http/endpoint.ts'
import { Authenticator } from '../../src/keys/authenticator.ts'
import { LoginLinks } from '../../src/sessions/people.ts'
import { Sessions } from '../../src/sessions/sessions.ts'
import type { Writer } from '../../src/ledger/write/writer.ts'
import { createSecretBox } from '../../src/secrets/secret-box.ts'
import { ComputePool } from '../../src/threads/pool.ts'
import { createClock, createTestRemit, handMade } from '@remit/testing'
import type { TestRemit } from '@remit/testing'

const common = {
  plan: 'team',
  summary: 'Make a secret',
  body: z.strictObject({}),
  ok: z.object({ id: z.string(), secret: z.string() }),
  status: 201,
  secretField: 'secret',
} as const

const makers = {
  kept: endpoint('POST /v1/kept-secrets', common),
  written: endpoint('POST /v1/written-secrets', { ...common, viaWriter: true }),
} satisfies Record<string, Endpoint>

let made = 0
const next = () => {
  made++
  const headers = { Location: `/v1/secrets/${made}` }
  return new Reply({ id: `s${made}`, secret: `open sesame ${made}` }, { headers })
}

const routes = (writer: Writer) =>
  implement(makers, {
    kept: () => Promise.resolve(next()),
    written: (_, caller, request) =>
      writer.change(caller.orgId, request, () =>
        Promise.resolve({
          entries: [handMade({ kind: 'secret.made', actor: caller.principal, data: {} })],
          reply: next,
        }),
      ),
  })

describe.each(['/v1/kept-secrets', '/v1/written-secrets'])('a secret made by %s', (path) => {
  let remit: TestRemit
  let app: Hono
  let key: string
  const deadlines = new Deadlines()
  beforeAll(async () => {
    remit = await createTestRemit()
    ;({ key } = await remit.organization())
    const { db } = remit
    const requests = new RequestTurns()
    const computer = new ComputePool()
    app = createApp({
      db,
      clock: createClock(),
      authenticator: new Authenticator(db, 'enterprise'),
      sessions: new Sessions(db, 'enterprise', createClock(), {
        keyLogin: false,
        place: () => null,
      }),
      links: new LoginLinks(createClock()),
      rateLimit: null,
      failedKeys: null,
      planCeiling: 'enterprise',
      impersonations: null,
      deadlines,
      claims: new RunningClaims(),
      computer,
      bodies: new Bodies(computer, requests),
      requests,
      secrets: createSecretBox([]),
      closing: new AbortController().signal,
      metrics: createMetrics(),
      observeRequest: () => undefined,
      tracer: null,
      routes: routes(remit.writer),
      log: pino({ level: 'silent' }),
      version: '0',
      edition: 'enterprise',
      modules: [],
      evaluation: false,
      migrationSets: [],
      warnings: () => [],
    })
  })
  afterAll(async () => {
    deadlines.close()
    await remit.close()
  })

  const make = (idempotencyKey: string) =>
    app.request(path, {
      method: 'POST',
      body: '{}',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        'idempotency-key': idempotencyKey,
      },
    })

  it('is shown once; the repeat has the same status, place and id, and no secret', async () => {
    const first = await make('once')
    const { id, secret } = (await first.json()) as { id: string; secret: string }
    const before = made

    const second = await make('once')

    expect(secret).toBe(`open sesame ${before}`)
    expect(second.status).toBe(201)
    expect(second.headers.get('location')).toBe(first.headers.get('location'))
    expect(await second.json()).toEqual({ id, secret: null, secret_available: false })
    expect(made).toBe(before)
  })

  it('is nowhere in the database', async () => {
    await make('stored')

    const stored = await remit.db.selectFrom('idempotency_key').selectAll().execute()

    expect(stored.length).toBeGreaterThan(0)
    expect(JSON.stringify(stored)).not.toContain('open sesame')
  })
})
