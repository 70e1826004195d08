import type { AuthorizeRequest } from '@remit/contract'
import type { Share } from '../threads/share.ts'
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

/** The rules for which conditions are evaluated, and the means. */
export interface AheadDeps {
  readonly stages: ReadonlyMap<Slot, Ruled>
  readonly version: number
  readonly threads: ConditionThreads
  readonly share: Share
}

/** Requests of one batch; the others are left for the next one. */
const MAX_REQUESTS = 8
/** A true condition can make others necessary, which take another round. */
const MAX_ROUNDS = 8
/** Milliseconds after which only the first request is continued. */
const PATIENCE_MS = 100

const UNLIMITED = { isOver: () => false }

interface Request {
  readonly ask: Ask
  readonly evaluated: EvaluatedConditions
}

/**
 * Evaluates the conditions that the rules of a batch need, without using the event loop for it. Each
 * round runs the stages to find the conditions that have no result yet, and evaluates these.
 */
export async function evaluateAhead(
  orgId: string,
  asks: readonly Ask[],
  deps: AheadDeps,
): Promise<EvaluatedBatch> {
  const requests = asks.slice(0, MAX_REQUESTS).map((one): Request => {
    const evaluated = new EvaluatedConditions(one.now)
    return { evaluated, ask: { ...one, evaluated, meter: UNLIMITED } }
  })
  const began = performance.now()
  let ready = 0
  let computedMs = 0
  for (let round = 0; round < MAX_ROUNDS && ready < requests.length; round++) {
    if (ready > 0 && performance.now() - began > PATIENCE_MS) break
    const { complete, results } = await evaluateRound(orgId, requests.slice(ready), deps)
    ready += complete
    const spentMs = await results
    if (spentMs === null) break
    computedMs += spentMs
  }
  return {
    version: deps.version,
    computedMs,
    requests: new Map<AuthorizeRequest, EvaluatedConditions>(
      requests.slice(0, Math.max(ready, 1)).map((one) => [one.ask.request, one.evaluated] as const),
    ),
  }
}

interface Round {
  /** The number of leading requests that miss no condition. */
  readonly complete: number
  /** The computing time of the threads, milliseconds; null if they returned nothing. */
  readonly results: Promise<number | null>
}

/** Starts the evaluation of all missing conditions. */
function evaluateRound(
  orgId: string,
  requests: readonly Request[],
  { stages, threads, share }: AheadDeps,
): Promise<Round> {
  return share.run(orgId, () => {
    const wanted = requests.flatMap(({ ask, evaluated }, i) =>
      evaluated.missing(() => judge(ask, stages)).map((one) => ({ one, evaluated, i })),
    )
    const complete = wanted[0]?.i ?? requests.length
    const results = keepResults(orgId, wanted, threads)
    // The caller sees a rejection after its pause.
    results.catch(() => undefined)
    return { complete, results }
  })
}

async function keepResults(
  orgId: string,
  wanted: readonly { readonly one: WantedConditions; readonly evaluated: EvaluatedConditions }[],
  threads: ConditionThreads,
): Promise<number | null> {
  if (wanted.length === 0) return null
  const results = await threads.evaluate(
    orgId,
    wanted.map(({ one }) => one),
  )
  if (results.length === 0) return null
  for (const [i, result] of results.entries()) {
    const { one, evaluated } = wanted[i] ?? {}
    if (one) evaluated?.keep(one, result)
  }
  return results.reduce((sum, { computedMs }) => sum + computedMs, 0)
}
