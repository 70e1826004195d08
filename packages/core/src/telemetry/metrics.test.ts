import { PerformanceObserver } from 'node:perf_hooks'
import { describe, expect, it, vi } from 'vitest'
import { requestMetrics, createMetrics } from './metrics.ts'
import { cached } from './cached.ts'

describe('metrics', () => {
  it('say how many requests are under way when they are asked', async () => {
    let open = 3
    const metrics = createMetrics()
    requestMetrics(metrics, () => open)

    expect(await metrics.text()).toContain('\nremit_http_requests_in_flight 3\n')
    open = 0
    expect(await metrics.text()).toContain('\nremit_http_requests_in_flight 0\n')
  })

  it('count answers by endpoint and status, in seconds', async () => {
    const metrics = createMetrics()
    const observe = requestMetrics(metrics, () => 0)

    observe('authorize', 200, 4)
    observe('authorize', 200, 40)
    observe('authorize', 503, 4)

    const text = await metrics.text()
    const series = (suffix: string, status: number, more = '') =>
      `remit_http_request_duration_seconds_${suffix}{${more}route="authorize",status="${status}"}`
    expect(text).toContain(`${series('count', 200)} 2\n`)
    expect(text).toContain(`${series('sum', 200)} 0.044\n`)
    expect(text).toContain(`${series('count', 503)} 1\n`)
    expect(text).toContain(`${series('bucket', 200, 'le="0.005",')} 1\n`)
  })

  it('leave out a gauge that has no value or cannot be read, and only that', async () => {
    const metrics = createMetrics()
    let value: number | null = 7
    metrics.gauge('remit_first', 'One', () => value)
    metrics.gauge('remit_broken', 'Two', () => Promise.reject(new Error('no database')))

    expect(await metrics.text()).toContain('\nremit_first 7\n')
    value = null
    const text = await metrics.text()
    expect(text).not.toMatch(/^remit_/m)
    expect(text).toMatch(/^process_start_time_seconds /m)
  })

  it('measure the process once, not for every server in it', async () => {
    const before = await createMetrics().text()
    const observers = vi.spyOn(PerformanceObserver.prototype, 'observe')

    const [one, other] = [createMetrics(), createMetrics()]

    expect(observers).not.toHaveBeenCalled()
    observers.mockRestore()
    const names = (text: string) => text.match(/^# TYPE .*$/gm)
    expect(names(before)).toContain('# TYPE nodejs_gc_duration_seconds histogram')
    expect(names(await one.text())).toEqual(names(before))
    expect(names(await other.text())).toEqual(names(before))
  })

  it('do not read the database for every reader', async () => {
    let reads = 0
    const read = cached(() => Promise.resolve(++reads))

    expect(await Promise.all([read(), read(), read()])).toEqual([1, 1, 1])
  })
})
