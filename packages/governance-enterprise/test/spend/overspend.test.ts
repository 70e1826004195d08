import { fork } from 'node:child_process'
import { once } from 'node:events'
import { bundledProgram, createTestRemit, fullDialects, programEnv } from '@remit/testing'
import { describe, expect, it } from 'vitest'
import governance from '../../src/index.ts'
import { apiOf, createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import type { Job } from '../support/asking-process.ts'

const params = { id: 'spender' }
const body = { agent_id: 'spender', action: 'a.b', context: { amount_usd: 0.1 } }

const askMany = (api: Api, times: number) =>
  Promise.all(
    Array.from({ length: times }, async () => (await api.ok('authorize', { body })).decision),
  )

async function askFromProcess(job: Job): Promise<string[]> {
  const child = fork(bundledProgram('asking-process'), { env: programEnv() })
  child.send(job)
  const [decisions] = (await once(child, 'message')) as [string[]]
  child.disconnect()
  await once(child, 'exit')
  return decisions
}

/** Of 1,000 requests for 0.10 USD, a cap of 5 USD lets exactly 50 through; the ledger says so too. */
async function expectFifty(api: Api, decisions: readonly string[], of = 1_000): Promise<void> {
  expect(decisions).toHaveLength(of)
  expect(decisions.filter((decision) => decision === 'allow')).toHaveLength(50)
  expect(decisions.filter((decision) => decision === 'deny')).toHaveLength(of - 50)
  const allowed = await api.ok('listEntries', {
    query: { agent_id: 'spender', decision: 'allow', limit: 1000 },
  })
  expect(allowed.data).toHaveLength(50)
  expect((await api.ok('getSpendLimit', { params })).spent.day).toMatchObject({
    usd: 0,
    held_usd: 5,
  })
  expect(await api.ok('authorize', { body })).toMatchObject({
    decision: 'deny',
    reason: 'spend_limit_daily',
  })
}

describe('a cap of 5 USD and 1,000 requests for 0.10 USD at once', () => {
  it.each(fullDialects())('lets 50 through from one process on %s', async (dialect) => {
    const api = await createApi({ dialect })
    await api.ok('setSpendLimit', { params, body: { daily_usd: 5 } })

    const decisions = await askMany(api, 1_000)

    await expectFifty(api, decisions)
    await api.remit.close()
  })

  it('lets 50 through from two servers with connections of their own', async () => {
    const api = await createApi({ dialect: 'postgres' })
    await api.ok('setSpendLimit', { params, body: { daily_usd: 5 } })
    const { url, signingKey } = api.remit
    const second = await createTestRemit({ modules: [governance], url, signingKey })

    const decisions = await Promise.all([askMany(api, 500), askMany(apiOf(second, api.org), 500)])

    await expectFifty(api, decisions.flat())
    await second.close()
    await api.remit.close()
  })

  it('lets 50 through from two processes', async () => {
    const api = await createApi({ dialect: 'postgres' })
    await api.ok('setSpendLimit', { params, body: { daily_usd: 5 } })
    const { url, signingKey } = api.remit
    const pem = signingKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const job = { url, signingKey: pem, key: api.org.key, times: 500, body }

    const decisions = await Promise.all([askFromProcess(job), askFromProcess(job)])

    expect(decisions.every((own) => own.length === 500)).toBe(true)
    await expectFifty(api, decisions.flat())
    await api.remit.close()
  })

  it('lets 50 through when every request commits alone', async () => {
    const api = await createApi({ dialect: 'postgres', maxBatch: 1 })
    await api.ok('setSpendLimit', { params, body: { daily_usd: 5 } })

    // Fewer: a thousand commits in a row take longer than a busy machine lets a request wait.
    const decisions = await askMany(api, 300)

    await expectFifty(api, decisions, 300)
    await api.remit.close()
  })
})
