import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createServer as createRemitServer } from '../src/boot/serve.ts'
import { readConfig } from '../src/settings/config.ts'
import { metricsSettings, telemetrySettings } from '../src/settings/telemetry.ts'
import { createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'
const log = pino({ level: 'silent' })

interface SpanSent {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly attributes: readonly { readonly key: string; readonly value: object }[]
  readonly links?: readonly { readonly spanId: string }[]
}

describe('the settings of tracing', () => {
  it.each([
    [{}, null],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, null],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' }, null],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, { share: 1, serviceName: 'remit' }],
    [
      {
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://c/v1/traces',
        OTEL_TRACES_SAMPLER_ARG: '0.01',
        OTEL_SERVICE_NAME: 'remit-eu',
      },
      { share: 0.01, serviceName: 'remit-eu' },
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_EXPORTER: 'none' }, null],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_TRACES_EXPORTER: 'jaeger' }, null],
  ])('of %j are %j', (env, settings) => {
    expect(telemetrySettings(env)).toEqual(settings)
  })

  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'must be an http or https URL'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c', OTEL_TRACES_SAMPLER_ARG: '2' },
      'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1',
    ],
  ])('%j are refused', (env, message) => {
    expect(() => telemetrySettings(env)).toThrow(message)
  })
})

describe('the settings of metrics over OTLP', () => {
  const endpoint = 'http://c:4318'
  it.each([
    [{}, null],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint }, null],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_METRICS_EXPORTER: 'none' }, null],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: 'true' }, null],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, { everyMs: 60_000, serviceName: 'remit' }],
    [
      { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: endpoint, OTEL_METRIC_EXPORT_INTERVAL: '1000' },
      { everyMs: 1000, serviceName: 'remit' },
    ],
  ])('of %j are %j', (env, settings) => {
    expect(metricsSettings(env)).toEqual(settings)
  })

  it.each([
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'collector' }, 'must be an http or https URL'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_METRIC_EXPORT_INTERVAL: '1s' },
      'OTEL_METRIC_EXPORT_INTERVAL must be a number of milliseconds',
    ],
  ])('%j are refused', (env, message) => {
    expect(() => metricsSettings(env)).toThrow(message)
  })
})

describe.each([
  ['TRACES', telemetrySettings],
  ['METRICS', metricsSettings],
] as const)('the exporter and the protocol of %s', (signal, settingsOf) => {
  const to = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }
  it.each([
    [{ [`OTEL_${signal}_EXPORTER`]: 'otlp' }, true],
    [{ [`OTEL_${signal}_EXPORTER`]: 'None' }, false],
    [{ [`OTEL_${signal}_EXPORTER`]: 'none', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, false],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'HTTP/JSON' }, true],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: '' }, true],
    [
      {
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`]: 'http/json',
      },
      true,
    ],
    [{ OTEL_SDK_DISABLED: 'TRUE', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, false],
  ])('%j: sent is %j', (env, isSent) => {
    expect(settingsOf({ ...to, ...env }) !== null).toBe(isSent)
  })

  it.each([
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL must be http/json'],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' }, 'must be http/json; given: "http/protobuf"'],
    [
      { [`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`]: 'grpc' },
      `OTEL_EXPORTER_OTLP_${signal}_PROTOCOL must be http/json`,
    ],
    [
      { [`OTEL_${signal}_EXPORTER`]: 'console' },
      `OTEL_${signal}_EXPORTER must be otlp or none; given: "console"`,
    ],
    [{ [`OTEL_${signal}_EXPORTER`]: 'otlp,console' }, 'must be otlp or none'],
  ])('%j stop the start, with what is accepted', (env, message) => {
    expect(() => settingsOf({ ...to, ...env })).toThrow(message)
  })
})

describe.skipIf(!hasModules())('a traced decision', () => {
  let installation: Installation
  let collector: Server
  const spans: SpanSent[] = []
  const names = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const
  beforeAll(async () => {
    installation = await createInstallation()
    collector = createServer((request, response) => {
      let body = ''
      request.on('data', (chunk: Buffer) => (body += chunk.toString()))
      request.on('end', () => {
        const { resourceSpans } = JSON.parse(body) as {
          resourceSpans: { scopeSpans: { spans: SpanSent[] }[] }[]
        }
        spans.push(
          ...resourceSpans.flatMap((one) => one.scopeSpans.flatMap((scope) => scope.spans)),
        )
        response.end('{}')
      })
    })
    await new Promise<void>((done) => void collector.listen(0, '127.0.0.1', done))
    const { port } = collector.address() as AddressInfo
    // The exporter reads the environment of the process.
    process.env[names[0]] = `http://127.0.0.1:${port}/v1/traces`
  })
  afterAll(async () => {
    delete process.env[names[0]]
    collector.close()
    await installation.remove()
  })

  it('is sent as a request, a decision and the commit that others share; its entry names the trace', async () => {
    const { key } = await createOrg(installation.env)
    const server = await createRemitServer(readConfig(installation.env), { log })
    const ask = async (more: Record<string, string> = {}) => {
      const response = await fetch(`${server.url}/v1/authorize`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key.secret}`,
          'content-type': 'application/json',
          ...more,
        },
        body: JSON.stringify({ agent_id: 'a', action: 'read', context: { secret: 'private' } }),
      })
      return response.json()
    }
    await ask({ traceparent: `00-${TRACE}-${PARENT}-01` })
    await Promise.all(Array.from({ length: 20 }, () => ask()))
    const headers = { authorization: `Bearer ${key.secret}` }
    const found = await fetch(`${server.url}/v1/ledger?trace_id=${TRACE}`, { headers })
    const { data } = (await found.json()) as { data: { data: object }[] }
    await server.stop()

    expect(data).toHaveLength(1)
    expect(data[0]?.data).toMatchObject({ trace_id: TRACE, span_id: PARENT })
    const ours = spans.filter(({ traceId }) => traceId === TRACE)
    const request = ours.find(({ name }) => name === 'POST /v1/authorize')
    const decide = ours.find(({ name }) => name === 'remit.decide')
    const commit = ours.find(({ name }) => name === 'remit.commit')
    expect(request?.parentSpanId).toBe(PARENT)
    expect(decide?.parentSpanId).toBe(request?.spanId)
    expect(commit?.parentSpanId).toBe(decide?.spanId)
    expect(JSON.stringify(decide?.attributes)).toContain('default_allow')
    expect(JSON.stringify(spans)).not.toContain('private')
    // Each decision is in the commit that it started, or linked to it.
    const commits = new Map(
      spans.filter(({ name }) => name === 'remit.commit').map((one) => [one.spanId, one]),
    )
    const decisions = spans.filter(({ name }) => name === 'remit.decide')
    expect(decisions).toHaveLength(21)
    for (const one of decisions) {
      const own = [...commits.values()].some(({ parentSpanId }) => parentSpanId === one.spanId)
      expect(own || one.links?.some(({ spanId }) => commits.has(spanId))).toBe(true)
    }
  })
})
