import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { bundledProgram, fullDialects, inFullRun, programEnv } from '@remit/testing'
import { describe, expect, it, vi } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import type { Job } from '../support/asking-process.ts'
import { LedgerOfBudgets } from '../support/budgets.ts'

const AGENTS = 20
const body = {
  agent_id: 'agent-0',
  action: 'a.b',
  context: { amount_usd: 1, amounts: { tokens: 3 } },
}

/** A tree of five levels, of which each level can be the first that is full. */
async function plant(api: Api): Promise<void> {
  const limits = Array.from({ length: 5 }, () => 100 + Math.floor(Math.random() * 200))
  for (const [i, limit] of limits.entries())
    await api.ok('setBudget', {
      params: { id: `level-${i}` },
      body: {
        unit: i === 3 ? 'tokens' : 'usd',
        window: ['month', 'total', 'rolling_30d', 'month', 'total'][i],
        limit: i === 3 ? limit * 3 : limit,
        parent_id: i === 0 ? null : `level-${i - 1}`,
        match: { agents: ['agent-*'] },
      },
    })
  // One agent of the twenty has little, which the others may not notice.
  await api.ok('setBudget', {
    params: { id: 'own' },
    body: { unit: 'calls', window: 'total', limit: 3, match: { agents: ['agent-7'] } },
  })
}

/** Reads the whole ledger, and compares each allow and the stored counters with it. */
async function expectExact(api: Api): Promise<LedgerOfBudgets> {
  const ledger = new LedgerOfBudgets()
  for (let cursor = ''; ;) {
    const page = await api.ok('listEntries', {
      query: { order: 'asc', limit: 1000, ...(cursor !== '' && { cursor }) },
    })
    for (const entry of page.data) ledger.add(entry)
    if (page.next_cursor === null) break
    cursor = page.next_cursor
  }
  expect(ledger.exceeded).toEqual([])
  const { data } = await api.ok('listBudgets')
  for (const { id, usage } of data) expect([id, usage?.held]).toEqual([id, ledger.heldOf(id)])
  // All were asked for more than they have, so the first that was full stopped the others.
  const shared = data.filter(({ id }) => id.startsWith('level'))
  expect(shared.some(({ usage }) => (usage?.remaining ?? 1) < 3)).toBe(true)
  expect(data.find(({ id }) => id === 'own')?.usage).toMatchObject({ held: 3, remaining: 0 })
  return ledger
}

describe('a tree of five levels and 1,000 requests of 20 agents at once', () => {
  it.each(fullDialects())('is never exceeded on %s', async (dialect) => {
    const api = await createApi({ dialect })
    await plant(api)

    const answers = await Promise.all(
      Array.from({ length: 1_000 }, async (_, i) =>
        api.ok('authorize', { body: { ...body, agent_id: `agent-${i % AGENTS}` } }),
      ),
    )

    const { decided } = await expectExact(api)
    expect(answers.filter(({ decision }) => decision === 'allow')).toHaveLength(decided)
    await api.remit.close()
  })

  it.runIf(inFullRun('budgets of killed processes'))(
    'is never exceeded by four processes, of which one is killed',
    async () => {
      const api = await createApi({ dialect: 'postgres' })
      await plant(api)
      const { url, signingKey } = api.remit
      const pem = signingKey.export({ type: 'pkcs8', format: 'pem' }).toString()
      const job = { url, signingKey: pem, key: api.org.key, times: 250, body, agents: AGENTS }
      const children = Array.from({ length: 4 }, () => start(job))
      const [victim, ...others] = children as [ChildProcess, ...ChildProcess[]]
      const answers = others.map(async (child) => ((await once(child, 'message')) as [string[]])[0])

      await vi.waitFor(
        async () => {
          const { head } = await api.ok('listEntries', { query: { limit: 1 } })
          expect(head.seq).toBeGreaterThan(30)
        },
        { timeout: 60_000, interval: 5 },
      )
      victim.kill('SIGKILL')

      const told = (await Promise.all(answers)).flat()
      for (const child of others) if (child.connected) child.disconnect()
      await Promise.all(
        children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')),
      )
      expect(told.filter((one) => one !== 'allow' && one !== 'deny')).toEqual([])
      const { decided } = await expectExact(api)
      // Allows of the killed one are in the ledger, whether or not anybody heard of them.
      expect(told.filter((one) => one === 'allow').length).toBeLessThanOrEqual(decided)
      await api.remit.close()
    },
  )
})

function start(job: Job): ChildProcess {
  const child = fork(bundledProgram('asking-process'), { env: programEnv() })
  child.send(job)
  return child
}
