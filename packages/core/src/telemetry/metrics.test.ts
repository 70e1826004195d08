import { describe, expect, it } from 'vitest'
import { createMetrics } from './metrics.ts'

describe('metrics', () => {
  it('say how many requests are under way when they are asked', async () => {
    let open = 3
    const metrics = createMetrics(() => open)

    expect(await metrics.text()).toContain('\nremit_http_requests_in_flight 3\n')
    open = 0
    expect(await metrics.text()).toContain('\nremit_http_requests_in_flight 0\n')
  })

  it('count answers by endpoint and status, in seconds', async () => {
    const metrics = createMetrics(() => 0)

    metrics.observe('authorize', 200, 4)
    metrics.observe('authorize', 200, 40)
    metrics.observe('authorize', 503, 4)

    const text = await metrics.text()
    const series = (suffix: string, status: number, more = '') =>
      `remit_http_request_duration_seconds_${suffix}{${more}route="authorize",status="${status}"}`
    expect(text).toContain(`${series('count', 200)} 2\n`)
    expect(text).toContain(`${series('sum', 200)} 0.044\n`)
    expect(text).toContain(`${series('count', 503)} 1\n`)
    expect(text).toContain(`${series('bucket', 200, 'le="0.005",')} 1\n`)
  })
})
