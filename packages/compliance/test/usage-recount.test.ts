import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { SYSTEM } from '@remit/core/caller'
import type { Draft } from '@remit/core/ledger/lanes'
import { OPERATOR } from '@remit/core/orgs'
import {
  apiOf,
  createClock,
  createTestRemit,
  handMade,
  isCompleteRun,
  someDialects,
} from '@remit/testing'
import { pino } from 'pino'
import { describe, expect, it } from 'vitest'
import compliance from '../src/index.ts'
import { UsageKeeper } from '../src/usage/keeper.ts'

const HOURS = 20
const ENTRIES = isCompleteRun ? 100_000 : 5_000
const BATCH = isCompleteRun ? 500 : 250
const RESTARTS = 50
const MINUTE = 60_000
/** A prime steps through the kinds and numbers without a pattern by hour. */
const STEP = 7919

/** Entry number `i`; some count, some do not. */
function draft(i: number): Draft {
  const at = (i * STEP) % 101
  const entry = { actor: SYSTEM, data: {} }
  if (at < 80)
    return {
      ...entry,
      kind: 'authorization.decided',
      agent_id: at < 70 ? `agent ${at}` : null,
      action: 'a.b',
      decision: at % 2 ? 'allow' : 'deny',
    }
  if (at < 85) return { ...entry, kind: 'guard.checked' }
  if (at < 90) return { ...entry, kind: 'guard.counted', data: { checks: at } }
  if (at < 95)
    return { ...entry, kind: 'scorer.ran', data: { count: at, facts: { usage: { calls: i % 3 } } } }
  return { ...entry, kind: 'policy.created' }
}

interface Payload {
  readonly agent_id?: string | null
  readonly data: {
    readonly checks?: number
    readonly count?: number
    readonly facts?: { readonly usage: { readonly calls: number } }
  }
}

/** Recounts an export as a customer would, without the code of the product. */
async function recount(lines: AsyncIterable<string>): Promise<Record<string, number>> {
  const sums: Record<string, number> = {}
  const agents = new Set<string>()
  let rest = ''
  const read = (line: string) => {
    const entry = JSON.parse(line) as Record<'type' | 'kind' | 'recorded_at' | 'payload', string>
    if (entry.type !== 'entry') return
    const hour = entry.recorded_at.slice(0, 13)
    const { agent_id, data } = JSON.parse(entry.payload) as Payload
    const add = (meter: string, count: number) => {
      if (count > 0) sums[`${hour} ${meter}`] = (sums[`${hour} ${meter}`] ?? 0) + count
    }
    add('entries', 1)
    if (entry.kind === 'authorization.decided') {
      add('decisions', 1)
      const agent = `${hour} ${agent_id}`
      if (typeof agent_id === 'string' && !agents.has(agent)) add('active_agents', 1)
      agents.add(agent)
    }
    if (entry.kind === 'guard.checked') add('guard_checks', 1)
    if (entry.kind === 'guard.counted') add('guard_checks', data.checks ?? 0)
    if (entry.kind === 'scorer.ran') {
      add('scorer_results', data.count ?? 0)
      add('judge_calls', data.facts?.usage.calls ?? 0)
    }
  }
  for await (const part of lines) {
    const whole = (rest + part).split('\n')
    rest = whole.pop() ?? ''
    whole.forEach(read)
  }
  return sums
}

describe.each(someDialects())('a recount of the usage on %s', (dialect) => {
  it(
    'from an export is what was counted and sent, wherever the count was interrupted',
    { timeout: 1_200_000 },
    async () => {
      const values = new Map<string, number>()
      const changed: string[] = []
      let requests = 0
      const receive = async (request: IncomingMessage, response: ServerResponse) => {
        const body = await text(request)
        const fate = requests++ % 5
        // One request in five is lost, and one answer.
        if (fate > 0) {
          const { id, data } = JSON.parse(body) as { id: string; data: { quantity: number } }
          if ((values.get(id) ?? data.quantity) !== data.quantity) changed.push(id)
          values.set(id, data.quantity)
        }
        if (fate < 2) request.socket.destroy()
        else response.end()
      }
      await using server = createServer((request, response) => {
        void receive(request, response)
      }).listen(0, '127.0.0.1')
      const clock = createClock('2026-11-20T00:10:00.000Z')
      const remit = await createTestRemit({ dialect, clock, modules: [compliance] })
      const org = await remit.organization('team')
      for (let i = 0; i < ENTRIES; i += BATCH) {
        const hour = Math.floor((i / ENTRIES) * HOURS)
        clock.set(`2026-11-20T${String(hour).padStart(2, '0')}:10:00.000Z`)
        const entries = Array.from({ length: BATCH }, (_, n) => handMade(draft(i + n)))
        await remit.writer.work(org.id, OPERATOR, () =>
          Promise.resolve({ entries, reply: () => undefined }),
        )
      }
      clock.set('2026-11-21T00:00:00.000Z')

      /** Runs a process that ends before one of its statements. */
      const run = async (statements: number) => {
        let left = statements
        const db = remit.db.withPlugin({
          transformQuery: ({ node }) => {
            if (left-- <= 0) throw new Error('ended')
            return node
          },
          transformResult: ({ result }) => Promise.resolve(result),
        })
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
        const sink = { type: 'cloudevents', url, key: null, customers: null } as const
        const keeper = new UsageKeeper({
          db,
          clock,
          log: pino({ level: 'silent' }),
          settings: {
            edition: 'enterprise',
            spendDeadlineMs: 250,
            usageSink: { ...sink, everyMs: MINUTE, allowLoopback: true },
          },
        })
        await keeper.look()
        await keeper.close()
        // The lease of a process that ended runs out.
        clock.advance(4 * MINUTE)
      }
      for (let restart = 0; restart < RESTARTS; restart++) await run(restart)
      while (true) {
        const known = requests
        await run(Infinity)
        if (requests === known) break
      }

      const query = { from: '2026-11-20T00:00:00.000Z', to: '2026-11-21T00:00:00.000Z' }
      const { data } = await apiOf(remit, org).ok('getUsage', { query })
      const counted = Object.fromEntries(
        data.map(({ hour, meter, quantity }) => [`${hour.slice(0, 13)} ${meter}`, quantity]),
      )
      expect(counted).toEqual(await recount(await remit.ledger.export(org.id, {})))
      expect(data).toHaveLength(HOURS * 6)
      const sent = data.map(({ meter, hour, to_seq, quantity }) => [
        `${org.id}:${meter}:${hour.slice(0, 13)}:${to_seq}`,
        quantity,
      ])
      expect(Object.fromEntries(values)).toEqual(Object.fromEntries(sent))
      expect(changed).toEqual([])
      await remit.close()
    },
  )
})
