import { freePort } from '@remit/testing'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { hasModules } from '../src/boot/modules.ts'
import { createServer } from '../src/boot/serve.ts'
import { readConfig } from '../src/settings/config.ts'
import { createOrg } from './support/cli.ts'
import { Collector, hasCollector } from './support/collector.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = 'b7ad6b7169203331'

interface Named {
  readonly name: string
  readonly traceId?: string
  readonly spanId?: string
  readonly parentSpanId?: string
  readonly attributes?: readonly { readonly key: string; readonly value: object }[]
  readonly sum?: {
    readonly isMonotonic?: boolean
    readonly dataPoints: readonly { readonly asDouble?: number }[]
  }
  readonly histogram?: { readonly dataPoints: readonly { readonly count: string }[] }
}

/** The spans or metrics of requests, as the collector writes them. */
const named = (requests: readonly unknown[], list: 'spans' | 'metrics'): Named[] =>
  (
    requests as Record<
      string,
      readonly Record<string, readonly Record<string, readonly Named[]>[]>[]
    >[]
  ).flatMap(({ resourceSpans, resourceMetrics }) =>
    (resourceSpans ?? resourceMetrics ?? []).flatMap(({ scopeSpans, scopeMetrics }) =>
      (scopeSpans ?? scopeMetrics ?? []).flatMap((scope) => scope[list] ?? []),
    ),
  )

describe.skipIf(!hasCollector() || !hasModules())('the collector of OpenTelemetry', () => {
  let installation: Installation
  let port: number
  beforeEach(async () => {
    installation = await createInstallation()
    port = await freePort()
    // The exporters read the environment of the process.
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = `http://127.0.0.1:${port}`
  })
  afterEach(async () => {
    delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
    await installation.remove()
  })

  const start = () =>
    createServer(readConfig(installation.env), { log: pino({ level: 'silent' }), env: process.env })
  const decide = (url: string, secret: string) =>
    fetch(`${url}/v1/authorize`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${secret}`,
        'content-type': 'application/json',
        traceparent: `00-${TRACE}-${PARENT}-01`,
      },
      body: JSON.stringify({ agent_id: 'a', action: 'read', context: { secret: 'private' } }),
    })

  it('gets the spans and the metrics of a decision, and refuses nothing', async () => {
    const { key } = await createOrg(installation.env)
    const collector = await Collector.start(installation.folder, port)
    const server = await start()
    expect((await decide(server.url, key.secret)).status).toBe(200)
    await server.stop()
    const log = await collector.stop()

    const spans = named(collector.requests('traces'), 'spans').filter(
      ({ traceId }) => traceId === TRACE,
    )
    const spanOf = (name: string) => spans.find((span) => span.name === name)
    const [request, decision, commit] = [
      spanOf('POST /v1/authorize'),
      spanOf('remit.decide'),
      spanOf('remit.commit'),
    ]
    expect(request?.parentSpanId).toBe(PARENT)
    expect(decision?.parentSpanId).toBe(request?.spanId)
    expect(commit?.parentSpanId).toBe(decision?.spanId)
    expect(decision?.attributes).toContainEqual({
      key: 'remit.decision',
      value: { stringValue: 'allow' },
    })
    const metrics = named(collector.requests('metrics'), 'metrics')
    const metricOf = (name: string) => metrics.find((metric) => metric.name === name)
    expect(metricOf('remit_decisions_total')?.sum).toMatchObject({
      isMonotonic: true,
      dataPoints: [{ asDouble: 1 }],
    })
    expect(metricOf('remit_decision_seconds')?.histogram?.dataPoints).toMatchObject([
      { count: '1' },
    ])
    expect(JSON.stringify([collector.requests('traces'), metrics])).not.toContain('private')
    expect(log).not.toMatch(/\t(?:warn|error)\t/)
  })

  it('that is away delays no decision, and gets the metrics of that time when it is back', async () => {
    const { key } = await createOrg(installation.env)
    process.env['OTEL_METRIC_EXPORT_INTERVAL'] = '200'
    const server = await start()
    delete process.env['OTEL_METRIC_EXPORT_INTERVAL']
    for (let i = 0; i < 3; i++)
      expect((await decide(server.url, key.secret)).status, 'without a collector').toBe(200)
    const collector = await Collector.start(installation.folder, port)
    expect((await decide(server.url, key.secret)).status).toBe(200)
    const counted = () =>
      named(collector.requests('metrics'), 'metrics')
        .filter(({ name }) => name === 'remit_decisions_total')
        .flatMap(({ sum }) => sum?.dataPoints.map(({ asDouble }) => asDouble) ?? [])
    await vi.waitUntil(() => counted().includes(4), { timeout: 60_000, interval: 200 })
    await server.stop()
    await collector.stop()
  })
})
