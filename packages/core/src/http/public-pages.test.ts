import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { mountOpenApi } from './app.ts'
import { createMetrics, requestMetrics } from '../telemetry/metrics.ts'
import { metricsApp } from './status.ts'

describe('what anybody may ask for is not made anew for each who asks', () => {
  it('/openapi.json', async () => {
    let made = 0
    const app = new Hono()
    mountOpenApi(app, () => Promise.resolve(JSON.stringify({ openapi: '3.1.0', made: ++made })))
    const bodies = await Promise.all(
      [1, 2, 3].map(async () => (await app.request('/openapi.json')).json()),
    )

    expect(bodies).toEqual([1, 2, 3].map(() => ({ openapi: '3.1.0', made: 1 })))
  })

  it('/openapi.json, once it could be made', async () => {
    const attempts = [
      Promise.reject(new Error('no worker')),
      Promise.resolve('{"openapi":"3.1.0"}'),
    ]
    const app = new Hono()
    mountOpenApi(app, () => attempts.shift() ?? Promise.reject(new Error('made again')))

    expect((await app.request('/openapi.json')).status).toBe(500)
    for (const _ of [1, 2]) expect((await app.request('/openapi.json')).status).toBe(200)
  })

  it('/metrics', async () => {
    let counted = 0
    const metrics = createMetrics()
    requestMetrics(metrics, () => ++counted)
    const app = metricsApp(metrics)
    const texts = await Promise.all(
      [1, 2, 3].map(async () => (await app.request('/metrics')).text()),
    )

    expect(counted).toBe(1)
    expect(texts[2]).toContain('\nremit_http_requests_in_flight 1\n')
    expect(new Set(texts).size).toBe(1)
  })
})
