import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createClock, TLS_CERTIFICATE, TLS_KEY } from '@remit/testing/pure'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Api } from '../support/api.ts'
import { startObjectStore } from '../support/object-store.ts'
import { hasRsyslog, startRsyslog } from '../support/rsyslog.ts'
import {
  append,
  caughtUp,
  createSinkApi,
  linesOf,
  PATIENCE,
  sizeOf,
  startSinkReceiver,
  upTo,
} from '../support/sinks.ts'
import type { SinkReceiver } from '../support/sinks.ts'

const NOW = '2026-11-20T08:00:00.000Z'
const clock = createClock(NOW)
let all: Api
let api: Api
let receiver: SinkReceiver
beforeAll(async () => {
  all = await createSinkApi({ clock })
})
afterAll(() => all.remit.close())
beforeEach(async () => {
  receiver = await startSinkReceiver()
  api = all.as(await all.remit.organization())
})
afterEach(() => receiver[Symbol.asyncDispose]())

const create = (type: string, target: object, more: object = {}) =>
  api.ok('createSink', {
    body: { type: type as never, target: target as never, from_seq: 0, ...more },
  })

interface LogRecord {
  readonly timeUnixNano: string
  readonly severityNumber: number
  readonly eventName: string
  readonly traceId?: string
  readonly body: { readonly kvlistValue: { readonly values: readonly unknown[] } }
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
}
interface Logs {
  readonly resourceLogs: {
    readonly resource: { readonly attributes: readonly unknown[] }
    readonly scopeLogs: { readonly logRecords: LogRecord[] }[]
  }[]
}

describe('OTLP', () => {
  const target = () => ({
    url: `${receiver.origin}/v1/logs`,
    headers: { authorization: 'Bearer t' },
  })

  it('gets logs with the time, severity and trace of each entry, and the document as body', async () => {
    const trace = 'a'.repeat(32)
    await api.ok('appendEntry', {
      body: { action: 'tool.run', decision_id: null, trace_id: trace },
    })
    const { id } = await create('otlp', target())
    await caughtUp(api, id, clock)

    const [request] = receiver.accepted
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer t',
      'content-type': 'application/json',
    })
    const { resourceLogs } = JSON.parse(String(request?.body)) as Logs
    expect(resourceLogs[0]?.resource.attributes).toContainEqual({
      key: 'service.name',
      value: { stringValue: 'remit' },
    })
    const records = resourceLogs[0]?.scopeLogs[0]?.logRecords ?? []
    expect(records.map(({ attributes }) => attributes[0])).toEqual(
      upTo(await sizeOf(api)).map((seq) => ({
        key: 'remit.seq',
        value: { intValue: String(seq) },
      })),
    )
    const gap = records.find(({ eventName }) => eventName === 'remit.enforcement.gap')
    expect(gap).toMatchObject({
      timeUnixNano: expect.stringMatching(/^\d{13}000000$/) as unknown,
      severityNumber: 13,
      traceId: trace,
    })
    expect(gap?.body.kvlistValue.values).toContainEqual({
      key: 'action',
      value: { stringValue: 'tool.run' },
    })
  })

  it('is asked again if it dropped a part', async () => {
    receiver.answer = () => ({
      status: 200,
      body: JSON.stringify({ partialSuccess: { rejectedLogRecords: '1' } }),
    })
    const { id } = await create('otlp', target())

    await vi.waitFor(async () => {
      const sink = await api.ok('getSink', { params: { id } })
      expect(sink).toMatchObject({
        watermark_seq: null,
        last_error: { code: 'partially_rejected' },
      })
    }, PATIENCE)
  })
})

describe('Splunk', () => {
  it('gets an event per entry with its time, its token and the index', async () => {
    const url = `${receiver.origin}/services/collector/event`
    const { id } = await create('splunk_hec', { url, token: 't0ken', index: 'audit' })
    await caughtUp(api, id, clock)

    const [{ headers, body, path } = { headers: {}, body: '', path: '' }] = receiver.accepted
    expect([path, headers['authorization']]).toEqual(['/services/collector/event', 'Splunk t0ken'])
    const events = String(body)
      .split('\n')
      .map((line) => JSON.parse(line) as { event: { seq: number } })
    expect(events[0]).toMatchObject({
      time: expect.closeTo(Date.parse(NOW) / 1000, -3) as unknown,
      sourcetype: 'remit:ledger',
      index: 'audit',
    })
    expect(events.map(({ event }) => event.seq)).toEqual(upTo(await sizeOf(api)))
  })
})

describe('https', () => {
  it('trusts the authority of the target, and no other one', async () => {
    let lines = 0
    const server = createServer({ key: TLS_KEY, cert: TLS_CERTIFICATE }, (request, response) => {
      request.resume().on('end', () => response.writeHead(202).end())
      lines += 1
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `https://localhost:${(server.address() as AddressInfo).port}/in`
    const { id } = await create('https', { url })
    const test = () => api.ok('testSink', { params: { id } })

    expect(await test()).toMatchObject({ delivered: false, error: { code: 'tls_failed' } })
    await api.ok('changeSink', { params: { id }, body: { target: { url, ca: TLS_CERTIFICATE } } })
    expect(await test()).toEqual({ delivered: true, error: null })
    await caughtUp(api, id, clock)
    expect(lines).toBeGreaterThan(1)
    await new Promise((resolve) => server.close(resolve))
  })

  it('test: sends one record that is not an entry, whatever kinds says', async () => {
    const { id } = await create(
      'https',
      { url: `${receiver.origin}/in` },
      { enabled: false, kinds: ['policy.*'] },
    )
    const size = await sizeOf(api)

    expect(await api.ok('testSink', { params: { id } })).toEqual({ delivered: true, error: null })
    expect(receiver.accepted.flatMap(linesOf)).toMatchObject([
      { kind: 'test', data: { sink_id: id } },
    ])
    expect(await sizeOf(api)).toBe(size)
  })
})

describe('an object store', () => {
  it('gets compressed batches in order and a checkpoint beside each, once they are worth it', async () => {
    await using store = await startObjectStore()
    await append(api, 2)
    const { id } = await create('s3', { ...store.target, prefix: 'audit/' })
    clock.advance(61_000)
    await caughtUp(api, id, clock)
    await append(api, 2)
    clock.advance(61_000)
    await caughtUp(api, id, clock)

    const keys = await store.keys()
    expect(keys).toHaveLength(4)
    const size = await sizeOf(api)
    expect(keys[0]).toBe(
      `audit/${api.org.id}/2026/11/20/08/0000000000000000-${String(size - 3).padStart(16, '0')}.checkpoint.txt`,
    )
    const batches = keys.filter((key) => key.endsWith('.ndjson.gz'))
    const bodies = await Promise.all(batches.map((key) => store.get(key)))
    const lines = bodies.flatMap((body) => linesOf({ body, path: '.gz' }))
    expect(lines.map(({ seq }) => seq)).toEqual(upTo(size))
    const note = String(await store.get(keys[2] ?? ''))
    expect(note.split('\n')[1]).toBe(String(size))
  })

  it('refuses a wrong key, and the sink says so', async () => {
    await using store = await startObjectStore()
    const { id } = await create('s3', { ...store.target, secret_access_key: 'wrong' })

    expect(await api.ok('testSink', { params: { id } })).toMatchObject({
      delivered: false,
      error: { code: 'http_status', status: 403 },
    })
  })
})

describe.skipIf(!hasRsyslog())('rsyslog', () => {
  it('gets each entry as one message over TLS', async () => {
    await using rsyslog = await startRsyslog()
    const { id } = await create('syslog', { url: rsyslog.url, ca: TLS_CERTIFICATE })
    await caughtUp(api, id, clock)
    await api.ok('appendEntry', {
      body: {
        action: 'ünïcode',
        decision_id: null,
        metadata: { long: 'x'.repeat(20_000), odd: 'line\nbreak "q" ] \\ 😀' },
      },
    })
    await caughtUp(api, id, clock)

    const size = await sizeOf(api)
    const messages = await vi.waitFor(() => {
      // Repeats are allowed.
      const found = [...new Map(rsyslog.messages().map((one) => [one.text, one])).values()]
      expect(found).toHaveLength(size)
      return found
    }, PATIENCE)
    expect(messages.map(({ text }) => (JSON.parse(text) as { seq: number }).seq)).toEqual(
      upTo(size),
    )
    expect(messages[0]).toMatchObject({
      priority: '110',
      time: expect.stringMatching(/^2026-11-20T08:/) as unknown,
      app: 'remit',
      id: 'ledger.genesis',
    })
    expect(messages.at(-1)).toMatchObject({ priority: '108', id: 'enforcement.gap' })
    expect(JSON.parse(messages.at(-1)?.text ?? '')).toMatchObject({ action: 'ünïcode' })
  })

  it('that ends in the middle gets the batch again', async () => {
    const rsyslog = await startRsyslog()
    const { id } = await create('syslog', { url: rsyslog.url, ca: TLS_CERTIFICATE })
    await caughtUp(api, id, clock)
    const before = await api.ok('getSink', { params: { id } })
    await rsyslog[Symbol.asyncDispose]()
    await append(api, 1)

    await vi.waitFor(async () => {
      expect(await api.ok('getSink', { params: { id } })).toMatchObject({
        state: 'retrying',
        watermark_seq: before.watermark_seq,
        last_error: { code: 'connection_failed' },
      })
    }, PATIENCE)
  })
})
