import { CHECK_PATH, isAllow, startCerbos, toCheck } from './cerbos-server.ts'
import { conditionOf } from './engines.ts'
import type { BenchTools, Result, Traffic } from './suites.ts'
import { workload } from './workload.ts'
import type { PlainRequest, PlainRule } from './workload.ts'

const SIZES = [100, 1_000]
const CONNECTIONS = 32
const BODIES = 500
const COMPARED = 100

/**
 * `/v1/authorize` over HTTP, with the ledger entry of every decision on disk, against a Cerbos server
 * that records nothing, on the same rules and requests.
 */
export async function cerbosSuite(tools: BenchTools): Promise<Result[]> {
  const results: Result[] = []
  for (const size of SIZES) {
    const { rules, requests } = workload(size)
    const remit = await tools.startRemit()
    const cerbos = await startCerbos(rules)
    try {
      await install(remit, rules)
      const asks = { url: `${remit.url}/v1/authorize`, headers: remit.headers }
      const checks = { url: `${cerbos.url}${CHECK_PATH}`, headers: {} }
      await compare(requests.slice(0, COMPARED), asks, checks)
      const some = requests.slice(0, BODIES)
      const kept: Record<'ours' | 'cerbos', Traffic[]> = { ours: [], cerbos: [] }
      const measure = (name: keyof typeof kept, target: Target, bodies: object[]) => async () => {
        const round = await tools.traffic({ ...target, bodies, connections: CONNECTIONS })
        kept[name].push(round)
        return round.perSecond
      }
      const measures = {
        ours: measure('ours', asks, some),
        cerbos: measure('cerbos', checks, some.map(toCheck)),
      }
      for (const run of Object.values(measures)) await run()
      for (const rounds of Object.values(kept)) rounds.length = 0
      const values = await tools.alternate(tools.rounds, measures)
      const times = (name: keyof typeof kept) => {
        const middle = (of: 'p50Ms' | 'p99Ms') => tools.median(kept[name].map((round) => round[of]))
        return `${tools.median(values[name]).toFixed(0)}/s, p50 ${middle('p50Ms')} ms, p99 ${middle('p99Ms')} ms`
      }
      results.push({
        name: `${size} rules over HTTP: of Cerbos' answers`,
        value: tools.ratio(values.ours, values.cerbos),
        goal: { atLeast: 1 },
        detail: `${times('ours')}; Cerbos ${times('cerbos')}`,
      })
    } finally {
      await cerbos.stop()
      await remit.stop()
    }
  }
  return results
}

interface Target {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

async function post(
  { url, headers }: Target,
  body: object,
  method: 'POST' | 'PATCH' = 'POST',
): Promise<unknown> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`)
  return response.json()
}

async function install(remit: Target, rules: readonly PlainRule[]): Promise<void> {
  const at = (path: string) => ({ ...remit, url: `${remit.url}${path}` })
  await post(at('/v1/organization'), { settings: { default_effect: 'deny' } }, 'PATCH')
  for (const rule of rules) {
    await post(at('/v1/policies'), {
      effect: rule.effect,
      agents: [rule.agent],
      actions: [rule.action],
      condition: conditionOf(rule),
    })
  }
}

async function compare(
  requests: readonly PlainRequest[],
  asks: Target,
  checks: Target,
): Promise<void> {
  for (const request of requests) {
    const ours = (await post(asks, request)) as { decision: string }
    const theirs = isAllow(await post(checks, toCheck(request)))
    if ((ours.decision === 'allow') !== theirs)
      throw new Error(`the two differ about ${JSON.stringify(request)}`)
  }
}
