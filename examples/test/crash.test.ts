import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createClient } from '@remit/contract/client'
import { inFullRun, programEnv } from '@remit/testing/pure'
import { createGate } from '@remit/sdk'
import { listen } from '@remit/server/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const isRun = inFullRun('killing agents') && hasModules()

describe.skipIf(!isRun)('a run that ended in between', () => {
  const temp = mkdtempSync(join(tmpdir(), 'remit-crash-'))
  const file = join(temp, 'payments')
  let server: RemitServer
  beforeAll(async () => {
    server = await startRemit()
  })
  afterAll(async () => {
    await server.stop()
    rmSync(temp, { recursive: true, force: true })
  })

  const limit = (agent: string) =>
    server.client.setSpendLimit({ params: { id: agent }, body: { daily_usd: 100 } })
  const spent = async (agent: string, client = server.client) =>
    (await client.getSpendLimit({ params: { id: agent } })).spent.day

  const start = (agent: string, place: string) =>
    new Promise<{ stdout: string; signal: string | null }>((done) => {
      const program = resolve(import.meta.dirname, 'support/crashing-agent.ts')
      const args = ['--conditions=@remit/source', program, agent, place, file]
      const env = programEnv({ REMIT_URL: server.url, REMIT_KEY: server.org.key })
      execFile('node', args, { env }, (error, stdout) =>
        done({ stdout, signal: error?.signal ?? null }),
      )
    })

  it.each([
    ['before the run', 0],
    ['before the settlement', 1],
  ])(
    'is not run again after the agent was killed %s, and its hold is kept',
    async (place, paid) => {
      const agent = place.replaceAll(' ', '-')
      await limit(agent)
      writeFileSync(file, '')

      expect(await start(agent, place)).toMatchObject({ signal: 'SIGKILL' })
      expect((await start(agent, 'nowhere')).stdout).toBe('already_decided\n')

      expect(readFileSync(file, 'utf8')).toBe('paid\n'.repeat(paid))
      expect(await spent(agent)).toMatchObject({ usd: 0, held_usd: 5 })
    },
  )

  it('is settled later if the server went away before the settlement, and is not run again', async () => {
    await limit('late')
    const first = await listen(server.remit.app, { host: '127.0.0.1', port: 0 })
    const gate = createGate({
      client: createClient({ baseUrl: first.url, key: server.org.key }),
      agentId: 'late',
      map: { pay: { amount: '/usd' } },
      onWarning: () => undefined,
    })
    let ran = 0
    const call = { tool: 'pay', input: { usd: 5 }, callId: 'call-1' }

    const done = await gate.run(call, async () => {
      await first.stop()
      return ++ran
    })

    expect(done).toMatchObject({ kind: 'ran', result: 1 })
    expect(await spent('late')).toMatchObject({ usd: 0, held_usd: 5 })
    const back = gate.with({ client: server.client })
    expect(await back.run(call, () => ++ran)).toMatchObject({ reason: 'already_decided' })
    if (done.kind === 'ran') await back.settle(done.verdict, { costUsd: 4 })
    expect(await spent('late')).toMatchObject({ usd: 4, held_usd: 0 })
    expect(ran).toBe(1)
  })

  it('runs nothing if the server went away before the answer', async () => {
    const listener = await listen(server.remit.app, { host: '127.0.0.1', port: 0 })
    await listener.stop()
    const client = createClient({ baseUrl: listener.url, key: server.org.key })
    let ran = 0

    const done = await createGate({ client, agentId: 'a', retries: 1 }).run(
      { tool: 'pay', input: {} },
      () => ++ran,
    )

    expect(done).toMatchObject({ kind: 'deny', reason: 'remit_unavailable' })
    expect(ran).toBe(0)
  })
})
