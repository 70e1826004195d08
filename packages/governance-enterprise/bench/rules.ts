import { askOf, casbin, cedar, closures, remit } from './engines.ts'
import type { Engine } from './engines.ts'
import type { BenchTools, Result } from './suites.ts'
import { workload } from './workload.ts'
import type { PlainRequest, PlainRule } from './workload.ts'

const FEWEST = 10
const MOST = 10_000
const SIZES = [FEWEST, 100, 1_000, MOST]
/** CPU time advances in milliseconds, so a measurement needs many passes. */
const PASSES = 200
/** Fewer requests per round for the other, slower engines. */
const FEWER = { cedar: [500, 200, 40, 4], casbin: [500, 200, 40, 4] } as const

/** Policies evaluated in process, by CPU time a decision, against a limit and against other engines. */
export async function rulesSuite(tools: BenchTools): Promise<Result[]> {
  const { rounds, alternate, median, ratio } = tools
  // First, while memory is empty: growth is memory latency.
  const results = [await growth(tools)]
  for (const [i, size] of SIZES.entries()) {
    const { rules, requests } = workload(size)
    const engines = {
      limit: closures(rules),
      ours: remit(rules),
      cedar: cedar(rules),
      casbin: await casbin(rules),
    }
    const some = (name: keyof typeof FEWER) => requests.slice(0, FEWER[name][i])
    const differing = requests.filter((request, k) => {
      const expected = engines.limit(askOf(request))
      const asked = [
        engines.ours,
        ...(k < some('cedar').length ? [engines.cedar, engines.casbin] : []),
      ]
      return asked.some((engine) => engine(askOf(request)) !== expected)
    })
    if (differing.length > 0) throw new Error(`${differing.length} of ${size} rules differ`)
    const measures = {
      limit: async () => microseconds(engines.limit, requests, PASSES),
      ours: async () => microseconds(engines.ours, requests, PASSES),
      cedar: async () => microseconds(engines.cedar, some('cedar'), 1),
      casbin: async () => microseconds(engines.casbin, some('casbin'), 1),
    }
    for (const measure of Object.values(measures)) await measure()
    const values = await alternate(rounds, measures)
    const detail = `${median(values.ours).toFixed(2)} us, limit ${median(values.limit).toFixed(2)}, cedar ${median(values.cedar).toFixed(0)}, casbin ${median(values.casbin).toFixed(0)}`
    results.push({
      name: `${size} rules: of the closure limit`,
      value: ratio(values.ours, values.limit),
      goal: { below: 7 },
      detail,
    })
    if (size === 1_000) {
      for (const name of ['casbin', 'cedar'] as const) {
        results.push({
          name: `${size} rules: times as fast as ${name}`,
          value: ratio(values[name], values.ours),
          goal: { atLeast: 500 },
          detail: '',
        })
      }
    }
  }
  return results
}

/** The time per decision with the most rules, relative to that with the fewest, in the same rounds. */
async function growth({ rounds, alternate, median, ratio }: BenchTools): Promise<Result> {
  const [few, many] = [workload(FEWEST), workload(MOST)]
  const measure = (
    make: (rules: readonly PlainRule[]) => Engine,
    { rules, requests }: typeof few,
  ) => {
    const engine = make(rules)
    return async () => microseconds(engine, requests, PASSES)
  }
  const measures = {
    few: measure(remit, few),
    many: measure(remit, many),
    limitFew: measure(closures, few),
    limitMany: measure(closures, many),
  }
  // The rules of a server have survived collections, which compact long-lived objects.
  globalThis.gc?.()
  for (const run of Object.values(measures)) await run()
  const values = await alternate(rounds, measures)
  return {
    name: `${MOST} rules, of ${FEWEST}`,
    value: ratio(values.many, values.few),
    goal: { below: 2 },
    detail: `${median(values.many).toFixed(2)} us of ${median(values.few).toFixed(2)}; the limit, of its own: ${ratio(values.limitMany, values.limitFew).toFixed(2)}`,
  }
}

/** CPU time per decision; every pass has new requests. */
function microseconds(engine: Engine, requests: readonly PlainRequest[], passes: number): number {
  let spent = 0
  for (let pass = 0; pass < passes; pass++) {
    const asks = requests.map(askOf)
    const before = process.threadCpuUsage()
    for (const ask of asks) engine(ask)
    const { user, system } = process.threadCpuUsage(before)
    spent += user + system
  }
  return spent / passes / requests.length
}
