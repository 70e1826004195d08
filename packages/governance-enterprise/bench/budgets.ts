import { alternate, median, ratio } from '@remit/testing/bench'
import type { BenchTools, MeasuredServer, Result } from '@remit/testing/bench'

const CONNECTIONS = 32
const DECISIONS = 1_000
/** Budgets on the path of one agent, each a part of the one before. */
const DEPTH = 5
const FEW = 10
const MANY = 1_000

/** The cost of a decision by the budgets on its path and in its organization, by CPU time of the server. */
export async function budgetsSuite(tools: BenchTools): Promise<Result[]> {
  return onTwoServers(tools, async (dialect, few, many) => {
    await fill(few, FEW)
    await fill(many, MANY)
    const measures = {
      none: () => microseconds(few, 'free'),
      limit: () => microseconds(few, 'capped'),
      path: () => microseconds(few, 'deep'),
      pathOfMany: () => microseconds(many, 'deep'),
    }
    for (const measure of Object.values(measures)) await measure()
    const values = await alternate(tools.rounds, measures)
    const shown = (name: keyof typeof measures) => `${median(values[name]).toFixed(0)} us`
    const result = (name: string, [a, b]: (keyof typeof measures)[], below: number): Result => ({
      name: `${dialect}, ${name}`,
      value: ratio(values[a ?? 'none'], values[b ?? 'none']),
      goal: { below },
      detail: `${shown(a ?? 'none')}, ${shown(b ?? 'none')}`,
    })
    return [
      result(`a path of ${DEPTH} budgets, of none`, ['path', 'none'], 1.15),
      result(`a path of ${DEPTH} budgets, of a spend limit`, ['path', 'limit'], 1.15),
      result(`${MANY} budgets in the organization, of ${FEW}`, ['pathOfMany', 'path'], 1.05),
    ]
  })
}

/** The results of two new servers on each database. */
export async function onTwoServers(
  tools: BenchTools,
  measure: (
    dialect: 'sqlite' | 'postgres',
    first: MeasuredServer,
    second: MeasuredServer,
  ) => Promise<Result[]>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const dialect of ['sqlite', 'postgres'] as const) {
    const [first, second] = await Promise.all([
      tools.startRemit({ dialect }),
      tools.startRemit({ dialect }),
    ])
    try {
      results.push(...(await measure(dialect, first, second)))
    } finally {
      await Promise.all([first.stop(), second.stop()])
    }
  }
  return results
}

/** A path of budgets for the agent `deep`, and as many others as there are to be. */
async function fill(server: MeasuredServer, budgets: number): Promise<void> {
  const put = (id: string, body: object) => send(server, 'PUT', `/v1/budgets/${id}`, body)
  const money = { unit: 'usd', window: 'month', limit: 1e9 }
  await send(server, 'POST', '/v1/spend-limits/capped', { daily_usd: 1e9, monthly_usd: 1e9 })
  for (let depth = 0; depth < DEPTH; depth++)
    await put(`deep-${depth}`, {
      ...money,
      parent_id: depth === 0 ? null : `deep-${depth - 1}`,
      match: { agents: ['deep'] },
    })
  for (let other = DEPTH; other < budgets; other++)
    await put(`other-${other}`, { ...money, match: { agents: [`other-${other}`] } })
}

/** CPU microseconds of the server for each allowed decision of an agent. */
export async function microseconds(
  server: MeasuredServer,
  agentId: string,
  decisions = DECISIONS,
): Promise<number> {
  const before = await server.usage()
  const body = { agent_id: agentId, action: 'pay', context: { amount_usd: 0.01 } }
  let left = decisions
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (left-- > 0) await send(server, 'POST', '/v1/authorize', body)
    }),
  )
  const after = await server.usage()
  return ((after.cpuSeconds - before.cpuSeconds) * 1e6) / decisions
}

export async function send(
  { url, headers }: MeasuredServer,
  method: string,
  path: string,
  body: object,
): Promise<string> {
  const response = await fetch(url + path, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (!response.ok || text.includes('"decision":"deny"')) throw new Error(text)
  return text
}
