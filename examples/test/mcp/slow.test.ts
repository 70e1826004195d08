import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { connect, startCounting, startGateway } from './support/http.ts'
import { MODERN } from './support/messages.ts'

const TIMEOUT = { timeout: 60_000 }
const SLOW = { name: 'slow', arguments: { ms: 600_000 } }

describe.skipIf(!hasModules())('a slow server behind the gateway on HTTP', () => {
  let remit: RemitServer
  let servers: Awaited<ReturnType<typeof startCounting>>[]
  let gateway: Awaited<ReturnType<typeof startGateway>>

  beforeAll(async () => {
    remit = await startRemit()
    servers = [await startCounting(), await startCounting()]
    const [slow, quick] = servers.map(({ url }) => ({ url }))
    gateway = await startGateway(remit, { agent: 'tester', upstreams: { slow, quick } })
  })
  afterAll(async () => {
    await gateway?.stop()
    for (const server of servers) await server.stop()
    await remit.stop()
  })

  it.each([
    ['2025-11-25', {}],
    ['2026-07-28', MODERN],
  ])('delays no other call of a client of %s', async (_, options) => {
    const open = async (name: string) =>
      (await connect(`${gateway.url}/mcp/${name}`, remit.org.key, options)).client
    const [slow, quick] = [await open('slow'), await open('quick')]
    servers[0]!.calls.length = 0
    const cancelled = new AbortController()
    const held = Array.from({ length: 20 }, () =>
      slow.callTool(SLOW, { signal: cancelled.signal }).catch(() => 'cancelled'),
    )
    const { calls } = servers[0]!
    const running = () => calls.filter((name) => name === 'slow').length
    await vi.waitFor(() => expect(running()).toBe(20), TIMEOUT)

    for (const client of [slow, quick])
      expect((await client.callTool({ name: 'pay', arguments: {} })).isError).toBeFalsy()
    cancelled.abort(new Error('enough'))
    expect(new Set(await Promise.all(held))).toEqual(new Set(['cancelled']))
    for (const client of [slow, quick]) await client.close()
  })
})
