import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { hasModules, startRemit } from '../support/server.ts'
import type { RemitServer } from '../support/server.ts'
import { CallFile } from './support/call-file.ts'
import { ownProgram } from './support/gateway.ts'
import { connect, startGateway } from './support/http.ts'
import { call } from './support/messages.ts'
import { RawGateway } from './support/raw.ts'
import { talkOnHttp, talkOnStdio } from './support/talk.ts'

const isRun = inFullRun('messages of the gateway') && hasModules()

const SERVER = [ownProgram('counting-server')]
const TIMEOUT = { timeout: 60_000 }
const request = (method: string, params: object) =>
  JSON.stringify({ jsonrpc: '2.0', id: 7, method, params })
const SLOW = request('tools/call', call('slow', { ms: 600_000 }))
const PAY = request('tools/call', call('pay'))

describe.skipIf(!isRun)('a message', () => {
  const file = new CallFile()
  const env = { CALLS: file.path }
  const flags = ['--agent', 'tester', '--env', 'CALLS']
  let remit: RemitServer
  let gateway: Awaited<ReturnType<typeof startGateway>>
  let forwarding: typeof gateway
  beforeAll(async () => {
    remit = await startRemit()
    const config = {
      agent: 'tester',
      upstreams: { started: { command: process.execPath, args: SERVER, env } },
    }
    gateway = await startGateway(remit, config)
    forwarding = await startGateway(remit, { ...config, unknown: 'forward' })
  })
  afterAll(async () => {
    await gateway?.stop()
    await forwarding?.stop()
    await remit.stop()
    file.remove()
  })
  beforeEach(() => file.clear())

  describe('with the id of a request under way is refused', () => {
    it('on stdio', async () => {
      const raw = new RawGateway(remit, SERVER, { flags, env })
      await raw.open()
      raw.write(SLOW)
      await vi.waitFor(() => expect(file.calls).toContain('slow'), TIMEOUT)
      raw.write(PAY)

      expect(await raw.message()).toMatchObject({
        id: 7,
        error: { code: -32600, message: 'id: is in use by another request.' },
      })
      expect(file.calls).not.toContain('pay')
      raw.kill()
    })

    it('on HTTP, in the same session', async () => {
      const url = `${gateway.url}/mcp/started`
      const { client, transport } = await connect(url, remit.org.key)
      const post = (body: string, signal?: AbortSignal) =>
        fetch(url, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${remit.org.key}`,
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            'mcp-session-id': transport.sessionId ?? '',
            'mcp-protocol-version': '2025-11-25',
          },
          body,
          ...(signal && { signal }),
        })
      const left = new AbortController()
      const slow = post(SLOW, left.signal).then((response) => response.text())
      await vi.waitFor(() => expect(file.calls).toContain('slow'), TIMEOUT)

      const second = await post(PAY)
      expect([second.status, await second.text()]).toEqual([
        400,
        expect.stringContaining('id: is in use by another request.'),
      ])
      expect(file.calls).not.toContain('pay')
      left.abort()
      await slow.catch(() => undefined)
      await client.close()
    })
  })

  describe.each(['2025-11-25', '2026-07-28'] as const)(
    'of %s with an unknown method is forwarded only where it is configured,',
    (revision) => {
      it('on stdio', async () => {
        const refusing = await talkOnStdio(remit, SERVER, { revision }, { flags, env })
        const forward = [...flags, '--unknown', 'forward']
        const other = await talkOnStdio(remit, SERVER, { revision }, { flags: forward, env })

        expect(await refusing.ask('shop/open')).toMatchObject(BY_GATEWAY)
        expect(await other.ask('shop/open')).toMatchObject(BY_SERVER)
        await refusing.close()
        await other.close()
      })

      it('on HTTP', async () => {
        const talk = ({ url }: typeof gateway) =>
          talkOnHttp(`${url}/mcp/started`, remit.org.key, { revision })

        expect(await (await talk(gateway)).ask('shop/open')).toMatchObject(BY_GATEWAY)
        expect(await (await talk(forwarding)).ask('shop/open')).toMatchObject(BY_SERVER)
      })
    },
  )
})

const BY_GATEWAY = {
  error: { code: -32601, message: 'The gateway does not know the method shop/open.' },
}
const BY_SERVER = { error: { code: -32601, message: 'Method not found' } }
