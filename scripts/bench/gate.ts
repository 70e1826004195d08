import { randomBytes } from 'node:crypto'
import { createClient as createFetchClient } from '../../packages/contract/src/client/index.ts'
import { createClient, createGate } from '../../packages/sdk/src/node/index.ts'
import type { Client } from '../../packages/sdk/src/node/index.ts'
import { createInstallation } from './installation.ts'
import { median } from './report.ts'
import type { Result } from './report.ts'
import { ASK } from './requests.ts'
import { limitSpend, startServer } from './servers.ts'

const CALLS = 400
/** The engine optimizes hot code for a long time; the gate is measured after that. */
const WARM_CALLS = 10_000

/** As long and as random as the gate's keys: the server keeps answers in their order. */
const randomKey = () => randomBytes(32).toString('base64url')

/**
 * A decision through the gate of the SDK against the same request by `fetch`, call by call in turns: with the
 * client for Node, and with the one for every runtime, which calls `fetch` too. All send an `Idempotency-Key`,
 * because the server stores the answer for one.
 */
export async function gateSuite(rounds: number): Promise<Result[]> {
  const installation = await createInstallation('sqlite')
  const server = await startServer({ kind: 'remit', ...installation })
  await limitSpend(server)
  const { url } = server
  const { key } = server.organization
  let calls = 0

  const { agent_id: agentId, action, resource, context } = ASK
  const through = (client: Client) => {
    const gate = createGate({ client, agentId, map: () => ({ action, resource, context }) })
    return async () => {
      const { kind } = await gate.check({ tool: action, input: context, callId: `call-${calls++}` })
      if (kind !== 'allow') throw new Error(`the gate answered ${kind}`)
    }
  }
  const ways = {
    fetch: async (idempotencyKey: string) => {
      const response = await fetch(`${url}/v1/authorize`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${key}`,
          'content-type': 'application/json',
          'idempotency-key': idempotencyKey,
        },
        body: JSON.stringify(ASK),
      })
      const { decision } = (await response.json()) as { decision: string }
      if (decision !== 'allow') throw new Error(`the server answered ${decision}`)
    },
    node: through(createClient({ baseUrl: url, key })),
    other: through(createFetchClient({ baseUrl: url, key })),
  }
  const names = ['fetch', 'node', 'other'] as const

  for (let call = 0; call < WARM_CALLS; call++)
    for (const name of names) await ways[name](randomKey())
  const taken: Times = { fetch: [], node: [], other: [] }
  const overheads = { node: [] as number[], other: [] as number[] }
  for (let round = 0; round < rounds; round++) {
    const times: Times = { fetch: [], node: [], other: [] }
    for (let call = 0; call < CALLS; call++) {
      // They take turns to be first.
      const first = call % names.length
      for (const name of [...names.slice(first), ...names.slice(0, first)]) {
        const ownKey = randomKey()
        times[name].push(await timed(() => ways[name](ownKey)))
      }
    }
    for (const name of ['node', 'other'] as const)
      overheads[name].push((median(times[name]) / median(times.fetch) - 1) * 100)
    for (const name of names) taken[name].push(...times[name])
  }
  await server.stop()
  await installation.remove()
  const ms = (values: readonly number[]) => `${median(values).toFixed(3)} ms`
  const detail = (name: 'node' | 'other') =>
    `gate ${ms(taken[name])}, fetch ${ms(taken.fetch)}, medians of ${rounds * CALLS} calls`
  return [
    {
      name: 'a decision through the gate in Node, over fetch',
      value: median(overheads.node),
      unit: ' %',
      goal: { below: 5 },
      detail: detail('node'),
    },
    {
      name: 'a decision through the gate with fetch, over fetch',
      value: median(overheads.other),
      unit: ' %',
      goal: null,
      detail: detail('other'),
    },
  ]
}

type Times = Record<'fetch' | 'node' | 'other', number[]>

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}
