import type { AuthorizeRequest } from '@remit/contract'
import { judge } from './decide.ts'
import type { Ruled } from './decide.ts'
import { EvaluatedConditions } from './evaluated-conditions.ts'
import type { ConditionResults, EvaluatedBatch, WantedConditions } from './evaluated-conditions.ts'
import type { Slot } from './slots.ts'
import type { Ask } from './stage.ts'

/** Evaluates conditions in threads. */
export interface ConditionThreads {
  /**
   * Returns results for as many of the leading requests as the time allows, at least one. May
   * reject; then the transaction evaluates.
   */
  evaluate(orgId: string, wanted: readonly WantedConditions[]): Promise<readonly ConditionResults[]>
}

/** Requests of one batch; the others are left for the next one. */
const MAX_REQUESTS = 16
/** Each true condition takes a round. */
const MAX_ROUNDS = 32
/** Milliseconds after which only the first request is continued. */
const PATIENCE_MS = 100

const UNLIMITED = { isOver: () => false }

/**
 * Evaluates the conditions that the rules of a batch need, without using the event loop for it. Each
 * round runs the stages to find the conditions that have no result yet, and evaluates these.
 */
export async function evaluateAhead(
  orgId: string,
  asks: readonly Ask[],
  stages: ReadonlyMap<Slot, Ruled>,
  version: number,
  threads: ConditionThreads,
): Promise<EvaluatedBatch> {
  const requests = asks.slice(0, MAX_REQUESTS).map((one) => {
    const evaluated = new EvaluatedConditions(one.now)
    return { evaluated, ask: { ...one, evaluated, meter: UNLIMITED } }
  })
  const began = performance.now()
  let ready = 0
  let computedMs = 0
  for (let round = 0; round < MAX_ROUNDS && ready < requests.length; round++) {
    const open = requests.slice(ready)
    const wanted = open.map(({ ask, evaluated }) => evaluated.missing(() => judge(ask, stages)))
    const complete = wanted.findIndex((one) => one.length > 0)
    ready += complete === -1 ? open.length : complete
    if (complete === -1 || (ready > 0 && performance.now() - began > PATIENCE_MS)) break
    const asked = wanted.flatMap((some, i) => some.map((one) => ({ one, of: open[i]?.evaluated })))
    const results = await threads.evaluate(
      orgId,
      asked.map(({ one }) => one),
    )
    if (results.length === 0) break
    for (const [i, result] of results.entries()) {
      const { one, of } = asked[i] ?? {}
      if (one && of) of.keep(one, result)
      computedMs += result.computedMs
    }
  }
  return {
    version,
    computedMs,
    requests: new Map<AuthorizeRequest, EvaluatedConditions>(
      requests.slice(0, Math.max(ready, 1)).map((one) => [one.ask.request, one.evaluated] as const),
    ),
  }
}
