import { createClient } from '@remit/contract/client'
import { createGate } from '@remit/sdk'
import { createClient as createNodeClient } from '@remit/sdk/node'
import { pairs, runs } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FAULTS, startFaultyProxy } from './support/faults.ts'
import type { Fault, FaultyProxy } from './support/faults.ts'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

/** Longer than a call takes on a busy machine. */
const BUSY_MS = 120_000

const pick = (faults: readonly Fault[]): Fault =>
  faults[Math.floor(Math.random() * faults.length)] ?? 'pass'

const CLIENTS = [
  ['fetch', createClient],
  ['node:http', createNodeClient],
] as const
/** Each fault with one client, in a complete run with both. */
const CASES = pairs(FAULTS, CLIENTS)

describe.skipIf(!hasModules()).each(CLIENTS)('behind a faulty proxy, by %s', (client, create) => {
  const faults = CASES.flatMap(([fault, [name]]) => (name === client ? [fault] : []))
  let server: RemitServer
  let proxy: FaultyProxy
  beforeAll(async () => {
    server = await startRemit()
    proxy = await startFaultyProxy(server.url)
    await server.client.createPolicy({ body: { effect: 'deny', actions: ['denied'] } })
    await server.client.setSpendLimit({ params: { id: 'a' }, body: { daily_usd: 1_000_000 } })
  })
  afterAll(async () => {
    await proxy.stop()
    await server.stop()
  })

  const gateWith = (timeoutMs: number) =>
    createGate({
      client: create({ baseUrl: proxy.url, key: server.org.key }),
      agentId: 'a',
      timeoutMs,
      map: { allowed: { amount: '/usd' } },
      onWarning: () => undefined,
    })
  /** The recorded allows of each call. Those of other calls may still arrive: clients give up earlier. */
  const allowsByCall = async (): Promise<Map<unknown, string[]>> => {
    const byCall = new Map<unknown, string[]>()
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof server.client.listEntries>> =
        await server.client.listEntries({
          query: {
            kind: 'authorization.decided',
            decision: 'allow',
            limit: 1000,
            ...(cursor !== null && { cursor }),
          },
        })
      for (const { data } of page.data) {
        const { args } = data!['context'] as { args: { call: string } }
        byCall.set(args.call, [...(byCall.get(args.call) ?? []), String(data?.['decision_id'])])
      }
      cursor = page.next_cursor
    } while (cursor !== null)
    return byCall
  }

  it.each(faults)(
    '%s: an allow that arrives in the end is one hold, and one run',
    async (fault) => {
      let attempt = 0
      proxy.next = ({ url }) => (url === '/v1/authorize' && attempt++ === 0 ? fault : 'pass')
      const call = `once behind ${fault}`
      let ran = 0

      // Half of it passes before the second attempt after a silence.
      const timeoutMs = fault === 'hang' || fault === 'drip' ? 8_000 : BUSY_MS
      const done = await gateWith(timeoutMs).run(
        { tool: 'allowed', input: { usd: 1, call } },
        () => ++ran,
      )

      expect(done.kind).toBe('ran')
      expect(ran).toBe(1)
      expect((await allowsByCall()).get(call)).toHaveLength(1)
    },
  )

  it.each(faults)('%s: nothing runs while it lasts', async (fault) => {
    proxy.next = () => fault
    let ran = 0

    const input = { usd: 1, call: `never behind ${fault}` }
    const done = await gateWith(150).run({ tool: 'allowed', input }, () => ++ran)

    expect(done).toMatchObject({ kind: 'deny', reason: 'remit_unavailable' })
    expect(ran).toBe(0)
  })

  it('never runs a tool without an allow, and never holds twice for a call', async () => {
    const quick = FAULTS.filter((fault) => fault !== 'hang' && fault !== 'drip')
    proxy.next = () => (Math.random() < 0.4 ? pick(quick) : 'pass')
    const gate = gateWith(BUSY_MS)
    const used = new Map<string, string>()
    const calls = runs(10_000 / CLIENTS.length)
    let next = 0
    let wrongly = 0
    const worker = async (): Promise<void> => {
      while (next++ < calls) {
        const tool = next % 4 === 0 ? 'denied' : 'allowed'
        const callId = `call-${next}`
        const done = await gate.run({ tool, input: { usd: 0.01, call: callId }, callId }, () => {
          if (tool === 'denied') wrongly++
        })
        if (done.kind === 'ran') used.set(callId, done.verdict.decisionId)
      }
    }
    await Promise.all(Array.from({ length: 100 }, worker))
    proxy.next = () => 'pass'
    const recorded = await allowsByCall()

    expect(wrongly).toBe(0)
    // One decision for a call, however often it was asked for.
    expect([...recorded].filter(([, { length }]) => length > 1)).toEqual([])
    expect([...used].filter(([call, id]) => recorded.get(call)?.[0] !== id)).toEqual([])
    expect(used.size).toBeGreaterThan((calls * 3) / 8)
  }, 900_000)
})
