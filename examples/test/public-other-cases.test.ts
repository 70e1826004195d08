import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { createOutbound } from '@remit/core/net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ELSEWHERE, hasPublicCases, partsOf, PUBLIC_CASES } from './support/public-cases.ts'
import type { HttpCall } from './support/public-cases.ts'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

type Members = Record<string, unknown>
type Send = (call: HttpCall) => Promise<{ status: number; body: Members }>

/** Cases that need more than a server and its API, by the test of the feature that holds them. */
const HELD: Readonly<Record<string, readonly [file: string, title: string]>> = {
  'cel-now-is-utc': [
    'packages/governance-enterprise/src/rules/cel-times.test.ts',
    'are those of UTC at every time, wherever the server is',
  ],
  'http-keep-alive-lb': [
    'apps/server/test/process-requests.test.ts',
    'an unused connection stays open for %s seconds with %j',
  ],
  'b-parallel-jobs': [
    'packages/identity/test/exchange/exchange.test.ts',
    'stops where an agent has as many live credentials as it can have',
  ],
  'b-otel-headers-equals': [
    'apps/server/test/otlp-metrics.test.ts',
    'a collector gets the headers of the settings, whose values may have `=`',
  ],
  'b-otel-traces-none': ['apps/server/test/tracing.test.ts', '%j: sent is %j'],
  'b-otel-grpc': ['apps/server/test/tracing.test.ts', '%j stop the start, with what is accepted'],
  'b-hec-busy': [
    'packages/governance-enterprise/test/sinks/streaming.test.ts',
    'wait for a receiver that fails, tell why, and then continue where they were',
  ],
  'b-hec-time': [
    'packages/governance-enterprise/test/sinks/targets.test.ts',
    'gets an event per entry with its time, its token and the index',
  ],
  'b-syslog-octets': [
    'packages/governance-enterprise/test/sinks/targets.test.ts',
    'gets each entry as one message over TLS',
  ],
  'b-csv-formula': [
    'apps/server/test/characters.test.ts',
    'a cell that hides the start of a formula starts with an apostrophe',
  ],
  'b-sqlite-stale-wal': [
    'apps/server/test/backup.test.ts',
    'is named by the start on a copy beside the log of the old database',
  ],
}

/** Country, and the account as the registry has it: n digits, a letters. */
const NEW_COUNTRIES = {
  BI: '23n',
  DJ: '23n',
  FK: '2a12n',
  LY: '21n',
  MN: '16n',
  NI: '4a20n',
  OM: '19n',
  RU: '29n',
  SD: '14n',
  SO: '19n',
  YE: '4a22n',
}
const ibanOf = (country: string, form: string) => {
  const account = form.replace(/(\d+)([an])/g, (_, count: string, kind: string) =>
    (kind === 'a' ? 'BANK' : '0123456789012345678901234567890').slice(0, Number(count)),
  )
  const digits = `${account}${country}00`.replace(/[A-Z]/g, (one) => String(parseInt(one, 36)))
  const check = 98n - (BigInt(digits) % 97n)
  return `${country}${String(check).padStart(2, '0')}${account}`
}

describe.skipIf(!hasPublicCases || !hasModules())('other situations of public bug reports', () => {
  let remit: RemitServer
  beforeAll(async () => {
    remit = await startRemit({ outbound: createOutbound({ allowLoopback: true }) })
  })
  afterAll(() => remit.stop())

  /** An organization with the settings of a case. */
  async function prepared(id: string) {
    const one = PUBLIC_CASES.find((found) => found.id === id)!
    const { key } = await remit.remit.organization()
    const send: Send = async ({ method, path, body, headers }) => {
      const response = await fetch(`${remit.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: response.status, body: (await response.json()) as Members }
    }
    const { setup, call } = partsOf(one) as { setup: HttpCall[]; call: HttpCall }
    for (const step of setup) expect((await send(step)).status).toBeLessThan(300)
    return { send, key, call }
  }
  type Prepared = Awaited<ReturnType<typeof prepared>>

  /** The verification of the ledger beside a checkpoint with a further line of signature. */
  const verified = async ({ send, key }: Prepared, more: (note: string) => string) => {
    const headers = { authorization: `Bearer ${key}` }
    const note = await (await fetch(`${remit.url}/v1/ledger/checkpoint`, { headers })).text()
    const body = { checkpoint: `${note}${more(note)}\n` }
    return send({ method: 'POST', path: '/v1/compliance/verify-ledger', body })
  }

  const RUNS: Record<string, (at: Prepared) => Promise<void>> = {
    async 'idempotency-parallel'({ send, call }) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => send(call)))
      const allowed = answers.filter(({ status }) => status === 200)
      const others = answers.filter(({ status }) => status !== 200)
      expect(new Set(allowed.map(({ body }) => body['decision_id'])).size).toBe(1)
      const code = 'idempotency_in_progress'
      expect(others).toEqual(others.map(() => expect.objectContaining({ status: 409 })))
      expect(others.filter(({ body }) => body['code'] !== code)).toEqual([])
    },
    async 'number-2-53-message'({ key, call }) {
      const { path, raw = '' } = call
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const response = await fetch(`${remit.url}${path}`, { method: 'POST', headers, body: raw })
      // A double holds it exactly.
      expect(response.status).toBe(200)
    },
    async 'spend-litellm-unpriced'({ send, call }) {
      const { status, body } = await send(call)
      expect({ status, body }).toMatchObject({
        status: 200,
        body: { warnings: ['spend_limit_counts_nothing'] },
      })
    },
    async 'b-tool-over-limit'({ send }) {
      const calls = Array.from({ length: 1002 }, (_, i) => ({ name: `t${i}`, arguments: {} }))
      const results = [{ tool_calls: calls, expected_tool_calls: calls.slice(1) }]
      const request = { scorer: 'tool_call_f1', results }
      const { body } = await send({ method: 'POST', path: '/v1/scorers', body: request })
      expect(body['scores']).toMatchObject([{ error: { code: 'limit_exceeded' } }])
    },
    async 'b-iban-new-countries'({ send }) {
      for (const [country, form] of Object.entries(NEW_COUNTRIES)) {
        const iban = ibanOf(country, form)
        for (const written of [iban, iban.replace(/.{4}(?=.)/g, '$& ')]) {
          const checked = { content: `To ${written} today`, checks: ['pii'] }
          const { body } = await send({ method: 'POST', path: '/v1/guard', body: checked })
          expect(body, written).toHaveProperty('reasons', expect.arrayContaining(['pii:iban']))
          expect(JSON.stringify(body['redacted']), written).toMatch(/"To \[[^\]]*\] today"/)
        }
      }
    },
    async 'b-note-bad-own'(at) {
      const damaged = (note: string) => {
        const [line = ''] = /^— .+$/m.exec(note) ?? []
        const [dash, name, signature = ''] = line.split(' ')
        const bytes = Buffer.from(signature, 'base64')
        bytes[bytes.length - 1]! ^= 1
        return `${dash} ${name} ${bytes.toString('base64')}`
      }
      expect((await verified(at, damaged)).status).toBe(400)
    },
    async 'b-note-grease'(at) {
      const random = Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')
      const { body } = await verified(at, () => `— other.example/log ${random}`)
      expect(body).toMatchObject({ status: 'ok' })
    },
    async 'webhook-emoji'({ send }) {
      const received: { headers: Members; body: string }[] = []
      const receiver = createServer((request, response) => {
        void text(request).then((body) => {
          received.push({ headers: request.headers, body })
          return response.end()
        })
      }).listen(0, '127.0.0.1')
      await once(receiver, 'listening')
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
      const events = ['approval.requested']
      const hook = await send({ method: 'POST', path: '/v1/webhooks', body: { url, events } })
      await send({ method: 'POST', path: '/v1/approval-rules/all', body: { actions: ['pay'] } })
      const asked = { agent_id: '支付-бот 😀', action: 'pay', resource: 'счёт:№ 42/ß' }
      await send({ method: 'POST', path: '/v1/authorize', body: asked })
      await expect.poll(() => received, { timeout: 60_000 }).not.toEqual([])
      receiver.closeAllConnections()
      receiver.close()

      const [{ headers, body }] = received as [(typeof received)[number]]
      const secret = Buffer.from(String(hook.body['secret']).replace('whsec_', ''), 'base64')
      const signed = `${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`
      const signature = createHmac('sha256', secret).update(signed).digest('base64')
      expect(headers['webhook-signature']).toBe(`v1,${signature}`)
      expect(body).toContain(asked.agent_id)
      expect(body).toContain('№ 42/ß')
    },
  }

  it.each(Object.entries(RUNS))('%s', async (id, run) => {
    expect.hasAssertions()
    await run(await prepared(id))
  })

  it('each case of the file is run by a test, or held by one that exists', () => {
    const doors = ['path', 'mcp', 'gateway', 'sdk']
    const isRun = (id: string, call: object) =>
      id in RUNS ||
      // The other files of public cases run all of these.
      ('kind' in call && 'issuer' in call) ||
      (doors.some((door) => door in call) && !ELSEWHERE.has(id))
    const missing = PUBLIC_CASES.filter(
      (one) => !(one.id in HELD) && !isRun(one.id, partsOf(one).call),
    )
    expect(missing.map(({ id }) => id)).toEqual([])
    const gone = Object.values(HELD).filter(([file, title]) => {
      const source = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8')
      return !source.includes(title)
    })
    expect(gone).toEqual([])
  })
})
