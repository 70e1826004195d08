import { computedMs } from '@remit/core/base'
import { DECISION_MS, DecisionMeter } from '@remit/core/decision'
import type { ConditionResult, ConditionResults } from '@remit/core/decision'
import type { Job } from '@remit/core/threads'
import { conditionOf } from '../rules/condition.ts'
import { makeFacts } from '../rules/facts.ts'

/** The conditions of one request, and the values that they read, by variable. */
export interface RequestConditions {
  readonly values: Readonly<Record<string, unknown>>
  /** The places in `context` that were replaced. */
  readonly replaced: readonly string[] | undefined
  readonly texts: readonly string[]
}

/** More than on the event loop: a thread that has just started computes several times slower. */
const REQUEST_MS = 2 * DECISION_MS
/** Milliseconds after which a job starts no further request. */
const JOB_MS = 50

/** Evaluates the conditions of requests, as many as the time allows; one part per request. */
export const evaluateJob: Job<readonly RequestConditions[], ConditionResults> = {
  name: 'evaluate_conditions',
  run(requests, tell) {
    const began = computedMs()
    for (const [i, request] of requests.entries()) {
      if (i > 0 && computedMs() - began > JOB_MS) return
      tell(evaluate(request))
    }
  },
}

/** After a true condition others may not be needed, so only those before it exceed the time. */
function evaluate({ values, replaced, texts }: RequestConditions): ConditionResults {
  const began = computedMs()
  const facts = makeFacts(values, replaced)
  const meter = new DecisionMeter(REQUEST_MS)
  const results: ConditionResult[] = []
  for (const text of texts) {
    const result = conditionOf(text).evaluate(facts, meter)
    if (meter.isOver() && results.includes(true)) break
    results.push(result)
    if (meter.isOver()) break
  }
  const isOver = meter.isOver() && !results.slice(0, -1).includes(true)
  return { results, isOver, computedMs: computedMs() - began }
}
