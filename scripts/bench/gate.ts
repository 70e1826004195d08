import { randomBytes } from 'node:crypto'
import { createClient } from '../../packages/contract/src/client/index.ts'
import { createGate } from '../../packages/sdk/src/index.ts'
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
 * A decision through the gate of the SDK against the same request by `fetch`, call by call in turns. Both
 * send an `Idempotency-Key`, because the server stores the answer for one.
 */
export async function gateSuite(rounds: number): Promise<Result[]> {
  const installation = await createInstallation('sqlite')
  const server = await startServer({ kind: 'remit', ...installation })
  await limitSpend(server)
  const { url } = server
  const { key } = server.organization
  let calls = 0

  const client = createClient({ baseUrl: url, key })
  const { agent_id: agentId, action, resource, context } = ASK
  const gate = createGate({ client, agentId, map: () => ({ action, resource, context }) })
  const throughGate = async () => {
    const { kind } = await gate.check({ tool: action, input: context, callId: `call-${calls++}` })
    if (kind !== 'allow') throw new Error(`the gate answered ${kind}`)
  }
  const byFetch = async (idempotencyKey: string) => {
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
  }

  for (let call = 0; call < WARM_CALLS; call++) {
    await byFetch(randomKey())
    await throughGate()
  }
  const taken = { fetch: [] as number[], gate: [] as number[] }
  const overheads: number[] = []
  for (let round = 0; round < rounds; round++) {
    const times = { fetch: [] as number[], gate: [] as number[] }
    for (let call = 0; call < CALLS; call++) {
      // The two take turns to be first.
      for (const name of call % 2 === 0
        ? (['fetch', 'gate'] as const)
        : (['gate', 'fetch'] as const)) {
        const ownKey = randomKey()
        times[name].push(await timed(name === 'gate' ? throughGate : () => byFetch(ownKey)))
      }
    }
    overheads.push((median(times.gate) / median(times.fetch) - 1) * 100)
    taken.fetch.push(...times.fetch)
    taken.gate.push(...times.gate)
  }
  await server.stop()
  await installation.remove()
  const ms = (values: readonly number[]) => `${median(values).toFixed(3)} ms`
  return [
    {
      name: 'a decision through the gate, over fetch',
      value: median(overheads),
      unit: ' %',
      goal: { below: 5 },
      detail: `gate ${ms(taken.gate)}, fetch ${ms(taken.fetch)}, medians of ${rounds * CALLS} calls`,
    },
  ]
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}
