import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createServer as createRemitServer } from '../src/boot/serve.ts'
import { readConfig } from '../src/settings/config.ts'
import { createOrg } from './support/cli.ts'
import { createInstallation } from './support/installation.ts'
import type { Installation } from './support/installation.ts'

const ENDPOINT = 'OTEL_EXPORTER_OTLP_METRICS_ENDPOINT'
const HEADERS = 'OTEL_EXPORTER_OTLP_HEADERS'
const WAIT = { timeout: 60_000, interval: 50 }

interface Point {
  readonly attributes: readonly { readonly key: string; readonly value: { stringValue?: string } }[]
  readonly asDouble?: number
  readonly count?: number
  readonly sum?: number
  readonly bucketCounts?: readonly number[]
  readonly explicitBounds?: readonly number[]
}

interface Sent {
  readonly name: string
  readonly sum?: { aggregationTemporality: number; isMonotonic: boolean; dataPoints: Point[] }
  readonly gauge?: { dataPoints: Point[] }
  readonly histogram?: { aggregationTemporality: number; dataPoints: Point[] }
}

interface Body {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly { key: string; value: object }[] }
    readonly scopeMetrics: readonly { readonly metrics: readonly Sent[] }[]
  }[]
}

let installation: Installation
let collector: Server
let bodies: Body[]
let headers: IncomingHttpHeaders[]
let status: number
beforeEach(async () => {
  bodies = []
  headers = []
  status = 200
  installation = await createInstallation()
  collector = createServer((asked, response) => {
    headers.push(asked.headers)
    void json(asked).then((body) => {
      bodies.push(body as Body)
      return response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((done) => void collector.listen(0, '127.0.0.1', done))
  // The exporter reads the environment of the process.
  const { port } = collector.address() as AddressInfo
  process.env[ENDPOINT] = `http://127.0.0.1:${port}/v1/metrics`
})
afterEach(async () => {
  delete process.env[ENDPOINT]
  delete process.env[HEADERS]
  collector.closeAllConnections()
  collector.close()
  await installation.remove()
})

const start = (everyMs: number) =>
  createRemitServer(readConfig(installation.env), {
    log: pino({ level: 'silent' }),
    env: { ...process.env, OTEL_METRIC_EXPORT_INTERVAL: String(everyMs) },
  })
const metricsOf = ({ resourceMetrics }: Body) =>
  new Map(
    resourceMetrics
      .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
      .map((metric) => [metric.name, metric]),
  )
const labelsOf = ({ attributes }: Point) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue]))

it('a collector gets the metrics of the page, with their names and values', async () => {
  const server = await start(3_600_000)
  for (let i = 0; i < 3; i++) await fetch(`${server.url}/v1/session`)
  const page = await (await fetch(`${server.url}/metrics`)).text()
  await server.stop()

  expect(bodies).toHaveLength(1)
  const [body] = bodies
  const sent = metricsOf(body!)
  const names = [...page.matchAll(/^# TYPE (\S+) /gm)].map(([, name]) => name)
  // A family without a value has no point.
  const filled = names.filter((name) => new RegExp(`^${name}(?:_count)?[ {]`, 'm').test(page))
  expect(filled.length).toBeGreaterThan(10)
  expect([...sent.keys()].toSorted()).toEqual(expect.arrayContaining(filled))

  const duration = sent.get('remit_http_request_duration_seconds')?.histogram
  const session = duration?.dataPoints.find((point) => labelsOf(point)['route'] === 'getSession')
  expect(duration?.aggregationTemporality).toBe(2)
  expect(session).toMatchObject({ count: 3, sum: expect.any(Number) })
  expect(labelsOf(session!)).not.toHaveProperty('le')
  expect(session?.bucketCounts?.reduce((sum, count) => sum + count, 0)).toBe(3)
  expect(session?.bucketCounts).toHaveLength((session?.explicitBounds?.length ?? 0) + 1)
  expect(sent.get('process_cpu_seconds_total')?.sum).toMatchObject({
    isMonotonic: true,
    aggregationTemporality: 2,
  })
  expect(sent.get('process_resident_memory_bytes')?.gauge?.dataPoints[0]?.asDouble).toBeGreaterThan(
    1e6,
  )
  const attributes = body?.resourceMetrics[0]?.resource.attributes
  expect(attributes).toContainEqual({ key: 'service.name', value: { stringValue: 'remit' } })
})

it('the last values count a request that ended while the server stopped', async () => {
  const { key } = await createOrg(installation.env)
  const server = await start(3_600_000)
  const { port } = new URL(server.url)
  const own = {
    authorization: `Bearer ${key.secret}`,
    'content-type': 'application/json',
    expect: '100-continue',
  }
  const late = request({ port, path: '/v1/ledger', method: 'POST', headers: own })
  // The server has begun the request, and waits for its body.
  late.flushHeaders()
  await once(late, 'continue')
  const stopped = server.stop()
  late.end('{"action":"a.b"}')
  const [answer] = (await once(late, 'response')) as [IncomingMessage]
  answer.resume()
  await stopped

  const duration = metricsOf(bodies.at(-1)!).get('remit_http_request_duration_seconds')?.histogram
  const routes = duration?.dataPoints.map((point) => labelsOf(point)['route'])
  expect(answer.statusCode).toBe(201)
  expect(routes).toContain('appendEntry')
})

it('a collector gets the headers of the settings, whose values may have `=`', async () => {
  process.env[HEADERS] = 'authorization=Basic dXNlcjpwYXNz==,x-team=a=b'
  const server = await start(3_600_000)
  await server.stop()

  expect(headers).toMatchObject([{ authorization: 'Basic dXNlcjpwYXNz==', 'x-team': 'a=b' }])
})

it('metrics are sent again and again, and a collector that fails keeps no server from its work', async () => {
  status = 500
  const server = await start(100)
  await vi.waitUntil(() => bodies.length > 2, WAIT)
  expect((await fetch(`${server.url}/ready`)).status).toBe(200)
  await server.stop()
})
