import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules } from '../support/server.ts'
import { CallFile } from './support/call-file.ts'
import { ownProgram } from './support/gateway.ts'
import { startGateway, startOnHttp } from './support/http.ts'
import { call } from './support/messages.ts'
import { startRuled } from './support/ruled.ts'
import type { Ruled } from './support/ruled.ts'
import { talkOnHttp, talkOnStdio } from './support/talk.ts'
import type { Talk } from './support/talk.ts'
import { WAYS_AND_REVISIONS } from './support/ways.ts'

const isRun = inFullRun('denials of the gateway') && hasModules()

const SERVER = [ownProgram('counting-server')]

describe.skipIf(!isRun).each(['result', 'error'] as const)(
  'a gateway that answers denials as %s, and whose Remit goes away,',
  (deny) => {
    it.each(['stdio', 'started'])(
      'answers with an error on %s, and forwards nothing',
      async (way) => {
        const file = new CallFile()
        const env = { CALLS: file.path }
        const remit = await startRuled()
        const upstreams = { started: { command: process.execPath, args: SERVER, env } }
        const gateway = await startGateway(remit, { agent: 'tester', deny, upstreams })
        const revision = '2025-11-25'
        const flags = ['--agent', 'tester', '--deny', deny, '--env', 'CALLS']
        const talk = await (way === 'stdio'
          ? talkOnStdio(remit, SERVER, { revision }, { flags, env })
          : talkOnHttp(`${gateway.url}/mcp/started`, remit.org.key, { revision }))
        await talk.ask('tools/call', call('pay'))
        await remit.stop()

        expect((await talk.ask('tools/call', call('refund')))['error']).toMatchObject({
          code: -32603,
          message: expect.stringMatching(/^Not executed/) as string,
        })
        expect(file.calls).toEqual(['pay'])
        await talk.close()
        await gateway.stop()
        file.remove()
      },
    )
  },
)

describe.skipIf(!isRun)('a gateway that answers denials with errors', () => {
  const file = new CallFile()
  const env = { CALLS: file.path }
  let remit: Ruled
  let remote: Awaited<ReturnType<typeof startOnHttp>>
  let gateway: Awaited<ReturnType<typeof startGateway>>
  beforeAll(async () => {
    remit = await startRuled()
    remote = await startOnHttp(SERVER, env)
    gateway = await startGateway(remit, {
      agent: 'tester',
      deny: 'error',
      hold_seconds: 0,
      upstreams: {
        remote: { url: remote.url },
        started: { command: process.execPath, args: SERVER, env },
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

  describe.each(WAYS_AND_REVISIONS)('on %s, for a client of %s,', (way, revision) => {
    let talk: Talk
    beforeAll(async () => {
      const flags = ['--agent', 'tester', '--deny', 'error', '--hold', '0', '--env', 'CALLS']
      talk = await (way === 'stdio'
        ? talkOnStdio(remit, SERVER, { revision }, { flags, env })
        : talkOnHttp(`${gateway.url}/mcp/${way}`, remit.org.key, { revision }))
    })
    afterAll(() => talk.close())

    it('names the reason and the decision of a denied call, and forwards nothing', async () => {
      const answer = await talk.ask('tools/call', call('refund'))

      const [decided] = await remit.decisions(1)
      expect(answer['result']).toBeUndefined()
      expect(answer['error']).toMatchObject({
        code: -32001,
        message: expect.stringMatching(/^Not executed: denied by Remit/) as string,
        data: { reason: 'policy_deny', decision_id: decided?.data?.['decision_id'] },
      })
      expect(file.calls).toEqual([])
    })

    it('refuses a tool that is not admitted in the same way', async () => {
      const { error } = await talk.ask('tools/call', call('unheard-of'))

      expect(error).toMatchObject({
        code: -32001,
        message: expect.stringContaining('does not offer the tool') as string,
      })
      expect(file.calls).toEqual([])
    })

    it('passes on what a tool itself calls an error', async () => {
      expect((await talk.ask('tools/call', call('fail')))['result']).toMatchObject({
        isError: true,
        content: [{ text: 'no' }],
      })
      expect(file.calls).toEqual(['fail'])
    })

    it('answers a call that a person rejects with an error', async () => {
      const pay = call('pay', { usd: 500, way, revision })
      await talk.ask('tools/call', pay)
      await remit.reject()

      const answer = await talk.ask('tools/call', pay)
      expect(answer['error'] ?? answer).toMatchObject({ code: -32001 })
      expect(file.calls).toEqual([])
    })
  })
})
