import autocannon from 'autocannon'

/** Requests to one address, in turn, over several connections. */
export interface Traffic {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly bodies: readonly object[]
  readonly connections: number
  readonly seconds: number
}

/** Sends JSON for some seconds; any status other than 2xx fails. */
export async function traffic({
  url,
  headers,
  bodies,
  connections,
  seconds,
}: Traffic): Promise<{ perSecond: number; p50Ms: number; p99Ms: number }> {
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests: bodies.map((body) => ({
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })),
  })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} refusals, ${result.errors} errors`)
  return {
    perSecond: result['2xx'] / result.duration,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  }
}
