import { inFullRun, sampled } from '@remit/testing/pure'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { hasModules } from '../support/server.ts'
import { CallFile } from './support/call-file.ts'
import { governed, ownProgram } from './support/gateway.ts'
import { connect, startCounting } from './support/http.ts'
import { startInterrupted } from './support/interrupted.ts'
import type { Place } from './support/interrupted.ts'
import { call, MODERN, TASKS, textOf } from './support/messages.ts'
import { startProgram } from './support/program.ts'
import { startRuled } from './support/ruled.ts'
import type { Ruled } from './support/ruled.ts'
import { talkOnHttp } from './support/talk.ts'

const isRun = inFullRun('killing the gateway') && hasModules()

const USD = 5
const SERVER = [ownProgram('counting-server')]
const DECIDED = { after: '/v1/authorize', answer: '"decision":"allow"' }
const SETTLING = { before: '/v1/ledger' }

/** A gateway in a process of its own, and a client of it. */
interface Killable {
  readonly pay: (usd: number) => Promise<unknown>
  readonly kill: () => Promise<void>
  readonly stop: () => Promise<unknown>
}

describe.skipIf(!isRun)('a gateway that is killed with SIGKILL', () => {
  const file = new CallFile()
  let remit: Ruled
  let remote: Awaited<ReturnType<typeof startCounting>>
  let proxy: Awaited<ReturnType<typeof startInterrupted>>
  let agents = 0
  let agent = ''
  beforeAll(async () => {
    remit = await startRuled()
    remote = await startCounting()
    proxy = await startInterrupted(remit.url)
  })
  afterAll(async () => {
    await proxy?.stop()
    await remote?.stop()
    await remit.stop()
    file.remove()
  })
  beforeEach(async () => {
    file.clear()
    remote.calls.length = 0
    agent = `killed-${++agents}`
    await remit.client.setSpendLimit({ params: { id: agent }, body: { daily_usd: 1_000 } })
  })

  const served = (name: string, options: object) => async (): Promise<Killable> => {
    const gateway = await startProgram(
      { url: proxy.url, org: remit.org },
      {
        agent,
        map: { pay: { amount: '/usd' } },
        upstreams: {
          remote: { url: remote.url },
          started: { command: process.execPath, args: SERVER, env: { CALLS: file.path } },
        },
      },
    )
    const { client } = await connect(`${gateway.url}/mcp/${name}`, remit.org.key, options)
    return {
      pay: (usd) => client.callTool(call('pay', { usd })),
      kill: gateway.kill,
      async stop() {
        await client.close()
        await gateway.stop()
      },
    }
  }
  const onStdio = (options: object) => async (): Promise<Killable> => {
    const { client, transport } = await governed({ url: proxy.url, org: remit.org }, SERVER, {
      flags: ['--agent', agent, '--env', 'CALLS'],
      env: { CALLS: file.path },
      ...options,
    })
    return {
      pay: (usd) => client.callTool(call('pay', { usd })),
      async kill() {
        process.kill(transport.pid ?? 0, 'SIGKILL')
        await client.close()
      },
      stop: () => client.close(),
    }
  }
  const calls = () => [...file.calls, ...remote.calls]
  const own = (entries: Awaited<ReturnType<Ruled['decisions']>>) =>
    entries.filter(({ agent_id: id }) => id === agent)
  const spent = async () => (await remit.client.getSpendLimit({ params: { id: agent } })).spent.day

  /** Starts a gateway, and kills it at a place of its next call. */
  const killedAt = async (start: () => Promise<Killable>, place: Place) => {
    const gateway = await start()
    const killed = proxy.interrupt(place, gateway.kill)
    // The client learns only that the connection is gone.
    const answer = gateway.pay(USD).catch(() => undefined)
    await killed
    await answer
  }
  const again = async (start: () => Promise<Killable>) => {
    const gateway = await start()
    try {
      return textOf(await gateway.pay(USD))
    } finally {
      await gateway.stop()
    }
  }

  const cases = [
    ['stdio, 2025-11-25', onStdio({}), 0],
    ['HTTP, a server that is started, 2026-07-28', served('started', MODERN), USD],
    ['HTTP, a remote server, 2025-11-25', served('remote', {}), USD],
    ['HTTP, a remote server, 2026-07-28', served('remote', MODERN), USD],
  ] as const
  describe.each(sampled(cases, 2))('on %s', (_, start, held) => {
    it('between decision and call: nothing runs by itself, and the hold is counted', async () => {
      await killedAt(start, DECIDED)

      expect(calls()).toEqual([])
      expect(own(await remit.decisions())).toMatchObject([{ decision: 'allow' }])
      expect(own(await remit.outcomes())).toEqual([])
      expect(await spent()).toMatchObject({ usd: 0, held_usd: held })

      // A client that calls again asks a new question: it has a decision and a hold of its own.
      expect(await again(start)).toBe(`pay {"usd":${USD}}`)
      expect(calls()).toEqual(['pay'])
      expect(own(await remit.decisions())).toHaveLength(2)
      expect(own(await remit.outcomes())).toMatchObject([{ data: { outcome: 'success' } }])
      expect(await spent()).toMatchObject({ usd: held, held_usd: held })
    })

    it('between call and settlement: it does not run again, and the hold can be settled', async () => {
      await killedAt(start, SETTLING)

      expect(calls()).toEqual(['pay'])
      expect(await spent()).toMatchObject({ usd: 0, held_usd: held })
      const [decided] = own(await remit.decisions())
      expect(own(await remit.outcomes())).toEqual([])

      const decision_id = String(decided?.data?.['decision_id'])
      const body = { agent_id: agent, action: 'tools/call', decision_id, settle: 'held' } as const
      await remit.client.appendEntry({ body: { ...body, outcome: 'unknown' } })
      expect(await spent()).toMatchObject({ usd: held, held_usd: 0 })
      expect(calls()).toEqual(['pay'])
    })

    it('after an approval was used: the repeat needs another one, and does not run', async () => {
      const gateway = await start()
      const waiting = gateway.pay(101).catch(() => undefined)
      await expect.poll(remit.pending, { timeout: 60_000 }).toHaveLength(1)
      const killed = proxy.interrupt(DECIDED, gateway.kill)
      await remit.approve()
      await killed
      await waiting
      expect(calls()).toEqual([])

      const next = await start()
      const repeat = next.pay(101)
      await expect.poll(remit.pending, { timeout: 60_000 }).toHaveLength(1)
      expect(calls()).toEqual([])
      await remit.reject()
      expect(textOf(await repeat)).toMatch(/^Not executed/)
      await next.stop()
      expect(calls()).toEqual([])
    })

    it('while an approval waits: the vote runs nothing, and the repeat needs another one', async () => {
      const gateway = await start()
      const waiting = gateway.pay(102).catch(() => undefined)
      await expect.poll(remit.pending, { timeout: 60_000 }).toHaveLength(1)
      await gateway.kill()
      await waiting
      const approved = await remit.approve()

      const next = await start()
      const repeat = next.pay(102)
      await expect.poll(remit.pending, { timeout: 60_000 }).toHaveLength(1)
      expect((await remit.pending())[0]?.id).not.toBe(approved)
      await remit.reject()
      expect(textOf(await repeat)).toMatch(/^Not executed/)
      await next.stop()
      expect(calls()).toEqual([])
    })
  })

  it('while a task waits for an approval: the task is lost, and the vote runs nothing', async () => {
    const begin = async () => {
      const config = { agent, upstreams: { remote: { url: remote.url } } }
      const gateway = await startProgram(remit, config)
      const url = `${gateway.url}/mcp/remote`
      const opening = { revision: '2026-07-28', capabilities: TASKS } as const
      return { gateway, ...(await talkOnHttp(url, remit.org.key, opening)) }
    }
    const pay = call('pay', { usd: 103 })
    const first = await begin()
    const { result } = await first.ask('tools/call', pay)
    const { taskId } = result as Record<string, unknown>
    await first.gateway.kill()
    await remit.approve()

    const next = await begin()
    expect(await next.ask('tasks/get', { taskId })).toHaveProperty('error')
    const repeat = await next.ask('tools/call', pay)
    expect(repeat['result']).toMatchObject({ resultType: 'task', status: 'working' })
    await remit.reject()
    await next.gateway.stop()
    expect(calls()).toEqual([])
  })
})
