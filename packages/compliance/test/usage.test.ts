import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SYSTEM } from '@remit/core/caller'
import type { Draft } from '@remit/core/ledger/lanes'
import type { UsageSinkSettings } from '@remit/core/module'
import { OPERATOR } from '@remit/core/orgs'
import { apiOf, createClock, createTestRemit, handMade, someDialects } from '@remit/testing'
import type { TestClock, TestRemit } from '@remit/testing'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import compliance from '../src/index.ts'
import { UsageKeeper } from '../src/usage/keeper.ts'

const START = '2026-11-20T08:00:00.000Z'

interface Received {
  readonly type: string | undefined
  readonly authorization: string | undefined
  readonly body: string
}

/** A billing system that takes what it gets; `lost`: it does not answer. */
let server: Server
let received: Received[]
let lost: () => boolean
beforeAll(async () => {
  server = createServer((request, response) => {
    void receive(request, response)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
})
afterAll(() => {
  server.close()
})
beforeEach(() => {
  received = []
  lost = () => false
})

async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await textOf(request)
  const { 'content-type': type, authorization } = request.headers
  received.push({ type, authorization, body })
  if (lost()) request.socket.destroy()
  else response.end()
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request) text += String(chunk)
  return text
}

describe.each(someDialects())('usage on %s', (dialect) => {
  let remit: TestRemit
  let clock: TestClock
  let orgId: string
  let key: string
  beforeAll(() => {
    clock = createClock(START)
  })
  beforeEach(async () => {
    clock.set(START)
    remit = await createTestRemit({ dialect, clock, modules: [compliance] })
    ;({ id: orgId, key } = await remit.organization('team'))
    return () => remit.close()
  })

  const write = (drafts: readonly Draft[]) =>
    remit.writer.work(orgId, OPERATOR, () =>
      Promise.resolve({ entries: drafts.map(handMade), reply: () => undefined }),
    )
  const decided = (agent_id: string): Draft => ({
    kind: 'authorization.decided',
    actor: SYSTEM,
    agent_id,
    action: 'a.b',
    decision: 'allow',
    data: {},
  })
  const other = (kind: string, data: Draft['data']): Draft => ({
    kind,
    actor: SYSTEM,
    data,
  })
  const keeper = (sink: Partial<UsageSinkSettings> | null = null) =>
    new UsageKeeper({
      db: remit.db,
      clock,
      log: pino({ level: 'silent' }),
      settings: {
        edition: 'enterprise',
        spendDeadlineMs: 250,
        ...(sink && {
          usageSink: {
            type: 'cloudevents',
            url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`,
            key: 'secret',
            customers: null,
            everyMs: 60_000,
            allowLoopback: true,
            ...sink,
          },
        }),
      },
    })
  const run = async (one: UsageKeeper) => {
    await one.look()
    await one.close()
  }
  const usage = async () => {
    const query = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' }
    return (await apiOf(remit, { id: orgId, key }).ok('getUsage', { query })).data
  }

  it('is counted from the entries of past hours, each once', async () => {
    await write([decided('one'), decided('two'), decided('one')])
    await write([
      other('guard.counted', { checks: 40 }),
      other('guard.checked', {}),
      other('scorer.ran', { count: 7, facts: { usage: { calls: 5 } } }),
    ])
    await run(keeper())
    expect(await usage()).toEqual([])
    clock.set('2026-11-20T09:01:00.000Z')
    await write([decided('three')])
    await run(keeper())
    expect(await usage()).toEqual([])
    clock.set('2026-11-20T09:02:00.000Z')
    await Promise.all([run(keeper()), run(keeper())])
    await run(keeper())
    // Genesis, organization, key and six entries.
    const place = { hour: START, from_seq: 0, to_seq: 8 }
    expect(await usage()).toEqual([
      { meter: 'active_agents', quantity: 2, ...place },
      { meter: 'decisions', quantity: 3, ...place },
      { meter: 'entries', quantity: 9, ...place },
      { meter: 'guard_checks', quantity: 41, ...place },
      { meter: 'judge_calls', quantity: 5, ...place },
      { meter: 'scorer_results', quantity: 7, ...place },
    ])
    const foreign = apiOf(remit, await remit.organization('team'))
    expect((await foreign.ok('getUsage')).data).toEqual([])
  })

  it('reaches a billing system at least once, whatever is lost: one id never has two values', async () => {
    for (let hour = 8; hour < 14; hour++) {
      clock.set(`2026-11-20T${String(hour).padStart(2, '0')}:30:00.000Z`)
      await write(Array.from({ length: hour }, () => decided('one')))
    }
    clock.set('2026-11-20T20:00:00.000Z')
    let requests = 0
    lost = () => requests++ % 2 === 0
    for (let restart = 0; restart < 25; restart++) await run(keeper({}))

    const values = new Map<string, number>()
    let repeated = 0
    for (const { type, authorization, body } of received) {
      expect([type, authorization]).toEqual(['application/cloudevents+json', 'Bearer secret'])
      const event = JSON.parse(body) as { id: string; data: { quantity: number } }
      if (values.has(event.id)) repeated += 1
      expect(values.get(event.id) ?? event.data.quantity).toBe(event.data.quantity)
      values.set(event.id, event.data.quantity)
    }
    expect(repeated).toBeGreaterThan(0)
    const rows = await usage()
    expect(Object.fromEntries(values)).toEqual(
      Object.fromEntries(
        rows.map(({ meter, hour, to_seq, quantity }) => [
          `${orgId}:${meter}:${hour.slice(0, 13)}:${to_seq}`,
          quantity,
        ]),
      ),
    )
    const sum = rows.filter(({ meter }) => meter === 'decisions').map(({ quantity }) => quantity)
    expect(sum).toEqual([8, 9, 10, 11, 12, 13])
    const before = received.length
    await run(keeper({}))
    expect(received).toHaveLength(before)
  })

  it('reaches Stripe as meter events of the known customers', async () => {
    await write([decided('one')])
    clock.set('2026-11-20T10:00:00.000Z')
    await run(keeper({ type: 'stripe', customers: new Map([['org_other', 'cus_0']]) }))
    expect(received).toEqual([])
    await run(keeper({ type: 'stripe', customers: new Map([[orgId, 'cus_1']]) }))
    const events = received.map(({ body }) => Object.fromEntries(new URLSearchParams(body)))
    expect(events.find((event) => event['event_name'] === 'remit_decisions')).toEqual({
      event_name: 'remit_decisions',
      identifier: `${orgId}:decisions:2026-11-20T08:3`,
      timestamp: String(Date.parse(START) / 1000),
      'payload[stripe_customer_id]': 'cus_1',
      'payload[value]': '1',
    })
  })

  it('is for the plan team', async () => {
    const free = apiOf(remit, await remit.organization('free'))
    expect((await free.refusal('getUsage')).code).toBe('plan_required')
  })
})
