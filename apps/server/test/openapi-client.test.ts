import { createClient, RemitError } from '@remit/contract'
import type { Client, ServerEvent } from '@remit/contract'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listen } from '../src/boot/listen.ts'
import type { Listener } from '../src/boot/listen.ts'
import { hasModules, loadModules } from '../src/boot/modules.ts'

describe('the typed client over a socket', () => {
  let remit: TestRemit
  let listener: Listener
  let client: Client
  beforeAll(async () => {
    remit = await createTestRemit(hasModules() ? { modules: await loadModules() } : {})
    listener = await listen(remit.app, { host: '127.0.0.1', port: 0 })
    client = createClient({ baseUrl: listener.url, key: (await remit.organization()).key })
  })
  afterAll(async () => {
    await listener.stop()
    await remit.close()
  })

  it('scores, lists and guards in every edition', async () => {
    const scored = await client.runScorer({
      body: { scorer: 'exact_match', results: [{ output: '4', expected: '4' }] },
    })
    const scorers = await client.listScorers({ query: { limit: 1 } })
    const guarded = await client.checkContent({ body: { content: 'What is the weather?' } })

    expect(scored.aggregate).toMatchObject({ count: 1, mean: 1 })
    expect(scorers.data).toHaveLength(1)
    expect(guarded).toMatchObject({ action: 'allow', flagged: false })
  })

  it('throws the problem of a refusal', async () => {
    const anyone = createClient({ baseUrl: listener.url, key: 'none' })

    const error: unknown = await anyone.listScorers().catch((thrown: unknown) => thrown)

    expect(error).toBeInstanceOf(RemitError)
    expect(error).toMatchObject({ problem: { code: 'unauthorized', status: 401 } })
  })

  it.skipIf(!hasModules())('iterates over events as they happen', async () => {
    await client.setApprovalRule({ params: { id: 'held' }, body: { actions: ['held.*'] } })
    const events = client.streamApprovals({ query: { after_seq: 0 } })
    const first = events.next()
    const asked = await client.authorize({ body: { agent_id: 'asker', action: 'held.back' } })

    const { value } = (await first) as { value: ServerEvent }
    await events.return(undefined)

    expect(value.data).toContain(asked.approval?.id)
    await client.removeApprovalRule({ params: { id: 'held' } })
  })

  it.skipIf(!hasModules())('limits, decides, settles and reads the ledger', async () => {
    const limit = await client.setSpendLimit({ params: { id: 'payer' }, body: { daily_usd: 10 } })
    const decided = await client.authorize({
      body: { agent_id: 'payer', action: 'payments.pay', context: { amount_usd: 4 } },
      headers: { 'idempotency-key': 'first', prefer: 'receipt' },
    })
    const { decision_id } = decided
    const settled = await client.appendEntry({
      body: { action: 'payments.paid', decision_id, cost_usd: 3.5 },
    })
    const { spent } = await client.getSpendLimit({ params: { id: 'payer' } })
    const { data } = await client.listEntries({ query: { agent_id: 'payer', order: 'asc' } })

    expect(limit).toMatchObject({ agent_id: 'payer', daily_usd: 10 })
    expect(decided).toMatchObject({ decision: 'allow', spend: { daily: { remaining_usd: 10 } } })
    expect(spent.day).toMatchObject({ usd: 3.5, held_usd: 0 })
    expect(data.map(({ kind }) => kind)).toEqual([
      'spend_limit.set',
      'authorization.decided',
      'entry.appended',
    ])
    expect(await client.getEntry({ params: { seq: settled.seq } })).toMatchObject({
      hash: settled.hash,
    })
    expect(await client.getCheckpoint()).toContain(`\n${settled.seq + 1}\n`)
    expect(await client.getProof({ params: { seq: settled.seq } })).toContain(
      'c2sp.org/tlog-proof@v1',
    )
    expect(await client.exportEntries({})).toContain(settled.hash)
    expect(await client.getConsistency({ query: { from: 1, to: 2 } })).toMatchObject({
      from: 1,
      to: 2,
    })
    expect((await client.listSpendLimits({})).data).toHaveLength(1)
    await expect(client.removeSpendLimit({ params: { id: 'payer' } })).resolves.toBeUndefined()
  })
})
