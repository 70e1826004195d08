import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { CallFile } from './support/call-file.ts'
import { governed, ownProgram } from './support/gateway.ts'
import { connect, startGateway, startOnHttp } from './support/http.ts'
import { call } from './support/messages.ts'
import { WAYS_AND_REVISIONS } from './support/ways.ts'
import type { Way } from './support/ways.ts'

const isRun = inFullRun('slow MCP servers') && hasModules()

const SERVER = [ownProgram('counting-server')]
const TIMEOUT = { timeout: 60_000 }
const SLOW = call('slow', { ms: 600_000 })

describe.skipIf(!isRun)('a slow server behind the gateway', () => {
  const file = new CallFile()
  const env = { CALLS: file.path }
  let remit: RemitServer
  let remote: Awaited<ReturnType<typeof startOnHttp>>
  let gateway: Awaited<ReturnType<typeof startGateway>>

  beforeAll(async () => {
    remit = await startRemit()
    remote = await startOnHttp(SERVER, env)
    gateway = await startGateway(remit, {
      agent: 'tester',
      upstreams: {
        remote: { url: remote.url },
        started: { command: process.execPath, args: SERVER, env },
        other: { url: remote.url },
      },
    })
  })
  afterAll(async () => {
    await gateway?.stop()
    await remote?.stop()
    await remit.stop()
    file.remove()
  })
  beforeEach(() => file.clear())

  const open = async (way: Way | 'other', options: object) => {
    const flags = ['--agent', 'tester', '--env', 'CALLS']
    const { client } =
      way === 'stdio'
        ? await governed(remit, SERVER, { flags, env, ...options })
        : await connect(`${gateway.url}/mcp/${way}`, remit.org.key, options)
    return client
  }
  const count = (name: string) => file.calls.filter((called) => called === name).length

  it.each(WAYS_AND_REVISIONS)(
    'delays no other call on %s, of a client of %s',
    async (way, _, options) => {
      const slow = await open(way, options)
      const other = await open('other', options)
      const cancelled = new AbortController()
      const held = Array.from({ length: 20 }, () =>
        slow.callTool(SLOW, { signal: cancelled.signal }).catch(() => 'cancelled'),
      )
      await vi.waitFor(() => expect(count('slow')).toBe(20), TIMEOUT)

      for (const client of [slow, other])
        expect((await client.callTool(call('pay'))).isError).toBeFalsy()
      cancelled.abort(new Error('enough'))
      expect(new Set(await Promise.all(held))).toEqual(new Set(['cancelled']))
      await vi.waitFor(() => expect(count('cancelled')).toBe(20), TIMEOUT)
      for (const client of [slow, other]) await client.close()
    },
  )
})
