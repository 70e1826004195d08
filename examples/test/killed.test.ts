import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createClient } from '@remit/contract/client'
import { inFullRun, programEnv, runs } from '@remit/testing/pure'
import { createGate } from '@remit/sdk'
import type { Gate } from '@remit/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules } from './support/server.ts'
import { createServerProcess } from './support/server-process.ts'
import type { ServerProcess } from './support/server-process.ts'

const isRun = inFullRun('killing servers') && hasModules()

const USD = 5
const ROUNDS = runs(8, 2)

describe.skipIf(!isRun)('a server that is killed with SIGKILL', () => {
  const temp = mkdtempSync(join(tmpdir(), 'remit-killed-agent-'))
  let server: ServerProcess
  beforeAll(async () => {
    server = await createServerProcess()
    await server.start()
  })
  afterAll(async () => {
    await server.remove()
    rmSync(temp, { recursive: true, force: true })
  })

  const client = () => createClient({ baseUrl: server.url, key: server.key })
  const limit = (agent: string) =>
    client().setSpendLimit({ params: { id: agent }, body: { daily_usd: 10_000 } })
  const spent = async (agent: string) =>
    (await client().getSpendLimit({ params: { id: agent } })).spent.day
  const allows = async (agent: string): Promise<string[]> => {
    const query = { agent_id: agent, kind: 'authorization.decided', limit: 1000 }
    const { data } = await client().listEntries({ query: { ...query, decision: 'allow' } })
    return data.map((entry) => String(entry.data?.['decision_id']))
  }
  const gateOf = (agentId: string): Gate =>
    createGate({
      client: client(),
      agentId,
      runId: 'run',
      timeoutMs: 60_000,
      retries: 100,
      map: { pay: { amount: '/usd' } },
      onWarning: () => undefined,
    })
  const call = { tool: 'pay', input: { usd: USD }, callId: 'call-1' }

  /** The call in another process of the run, which was not asked before. */
  const again = (gate: Gate) => gate.with({}).run(call, () => 'ran')

  it('between allow and run: it runs once, and its hold is there to be settled', async () => {
    await limit('before-run')
    const gate = gateOf('before-run')
    let ran = 0

    const verdict = await gate.check(call)
    await server.kill()
    const done = await gate.run(call, () => ++ran)
    await server.start()

    expect(done).toMatchObject({ kind: 'ran', result: 1, verdict })
    expect(await spent('before-run')).toMatchObject({ usd: 0, held_usd: USD })
    expect(await again(gate)).toMatchObject({ reason: 'already_decided' })
    expect(await allows('before-run')).toHaveLength(1)
    if (done.kind === 'ran') await gate.settle(done.verdict, { costUsd: 4 })
    expect(await spent('before-run')).toMatchObject({ usd: 4, held_usd: 0 })
  })

  it('between run and settle: it is not run again, and its hold is there to be settled', async () => {
    await limit('before-settle')
    const gate = gateOf('before-settle')

    const done = await gate.run(call, () => server.kill())
    await server.start()

    expect(done.kind).toBe('ran')
    expect(await spent('before-settle')).toMatchObject({ usd: 0, held_usd: USD })
    expect(await again(gate)).toMatchObject({ reason: 'already_decided' })
    if (done.kind === 'ran') await gate.settle(done.verdict, { costUsd: 4 })
    expect(await spent('before-settle')).toMatchObject({ usd: 4, held_usd: 0 })
  })

  it.each([
    ['before the run', 0],
    ['before the settlement', 1],
  ])('after its agent was killed %s: no second run, no lost hold', async (place, paid) => {
    const agent = place.replaceAll(' ', '-')
    const file = join(temp, agent)
    writeFileSync(file, '')
    await limit(agent)
    const start = (at: string) =>
      new Promise<{ stdout: string; signal: string | null }>((done) => {
        const program = resolve(import.meta.dirname, 'support/crashing-agent.ts')
        const args = ['--conditions=@remit/source', program, agent, at, file]
        const env = programEnv({ REMIT_URL: server.url, REMIT_KEY: server.key })
        execFile('node', args, { env }, (error, stdout) =>
          done({ stdout, signal: error?.signal ?? null }),
        )
      })

    expect(await start(place)).toMatchObject({ signal: 'SIGKILL' })
    await server.kill()
    await server.start()

    expect(await start('nowhere')).toMatchObject({ stdout: 'already_decided\n' })
    expect(readFileSync(file, 'utf8')).toBe('paid\n'.repeat(paid))
    expect(await spent(agent)).toMatchObject({ usd: 0, held_usd: USD })
  })

  it('while it decides: each call runs at most once, for one hold', async () => {
    const agent = 'under-load'
    await limit(agent)
    const gate = gateOf(agent)
    const used: string[] = []
    let ran = 0
    for (let round = 0; round < ROUNDS; round++) {
      let decided = 0
      const enough = Promise.withResolvers<void>()
      const calls = Array.from({ length: 20 }, async (_, index) => {
        const done = await gate.run({ ...call, callId: `call-${round}-${index}` }, () => ++ran)
        if (++decided > round % 5) enough.resolve()
        if (done.kind === 'ran') used.push(done.verdict.decisionId)
        return done
      })
      // Some calls are decided by then, some are on their way, some wait for the new server.
      await enough.promise
      await server.kill()
      await server.start()
      expect(new Set((await Promise.all(calls)).map(({ kind }) => kind))).toEqual(new Set(['ran']))
    }
    const recorded = await allows(agent)

    expect(ran).toBe(ROUNDS * 20)
    expect(new Set(used).size).toBe(ran)
    // Each run has its own allow, and there is no other.
    expect(recorded.toSorted()).toEqual(used.toSorted())
    const { usd, held_usd: held } = await spent(agent)
    expect(usd + held).toBe(ran * USD)
  }, 600_000)
})
