import { AccessEvaluation } from '@remit/contract'
import type { AccessDecision, AccessEvaluations, EvaluationsSemantic } from '@remit/contract'
import { isRecord } from '@remit/contract/entries'
import { Failure, checkShape } from '@remit/core/base'
import { asFailure } from '@remit/core/http'

/** Decides one evaluation at its position in the request; throws if it cannot. */
export type Evaluate = (evaluation: AccessEvaluation, place: number) => Promise<AccessDecision>

/** Concurrent evaluations that start together: about 1 ms, and few enough to share a commit. */
const PER_TURN = 16
/** Started evaluations of one request without an answer: the writer's queue has room for many such requests. */
const AT_ONCE = 256

/** The decision that ends a sequence. */
const ENDS: Readonly<Record<Exclude<EvaluationsSemantic, 'execute_all'>, boolean>> = {
  deny_on_first_deny: false,
  permit_on_first_permit: true,
}

/**
 * The decisions of several evaluations in order. They run concurrently, at most `AT_ONCE`, or one after the other
 * until one settles the result; later ones are not evaluated and leave no entry. `turn` is
 * called for every `PER_TURN` concurrent ones, which start when it resolves: a thousand that start
 * together would hold the event loop.
 */
export async function evaluateAll(
  { evaluations = [], options, ...defaults }: AccessEvaluations,
  evaluate: Evaluate,
  turn: () => Promise<void> | undefined,
): Promise<AccessDecision[]> {
  const semantic = options?.evaluations_semantic ?? 'execute_all'
  const one = (item: unknown, i: number) => attempt(() => evaluate(completed(item, defaults), i))
  const outcomes: (AccessDecision | Failure)[] = []
  if (semantic === 'execute_all') outcomes.push(...(await inTurns(evaluations, one, turn)))
  else {
    for (const [i, item] of evaluations.entries()) {
      const outcome = await one(item, i)
      outcomes.push(outcome)
      if (isPermit(outcome) === ENDS[semantic]) break
    }
  }
  refuseTogether(outcomes)
  return outcomes.map((outcome) => (outcome instanceof Failure ? errorOf(outcome) : outcome))
}

/** `work` for all items, in order and concurrently; `turn` is called for every `PER_TURN` of them. */
async function inTurns<T, R>(
  items: readonly T[],
  work: (item: T, place: number) => Promise<R>,
  turn: () => Promise<void> | undefined,
): Promise<R[]> {
  const started: Promise<R>[] = []
  for (let at = 0; at < items.length; at += PER_TURN) {
    await started[at - AT_ONCE]
    await turn()
    for (const [i, item] of items.slice(at, at + PER_TURN).entries()) {
      const result = work(item, at + i)
      // It rejects below, possibly after others are awaited.
      result.catch(() => undefined)
      started.push(result)
    }
  }
  return Promise.all(started)
}

async function attempt(work: () => Promise<AccessDecision>): Promise<AccessDecision | Failure> {
  try {
    return await work()
  } catch (error) {
    const failure = asFailure(error)
    // An unexpected error fails the whole request.
    if (failure.code === 'internal_error') throw error
    return failure
  }
}

const isPermit = (outcome: AccessDecision | Failure): boolean =>
  !(outcome instanceof Failure) && outcome.decision

/**
 * Refusals of the caller or of the `Idempotency-Key`; a forbidden agent only concerns one
 * evaluation.
 */
const OF_REQUEST: ReadonlySet<string> = new Set([
  'unauthorized',
  'plan_required',
  'role_required',
  'idempotency_mismatch',
  'answer_erased',
])

/** A refused caller or a failed server fails the whole request. */
function refuseTogether(outcomes: readonly (AccessDecision | Failure)[]): void {
  const failures = outcomes.filter((outcome) => outcome instanceof Failure)
  const refusal = failures.find(({ code }) => OF_REQUEST.has(code))
  if (refusal) throw refusal
  const [first] = failures
  if (first && outcomes.length === failures.length && failures.every(({ status }) => status >= 500))
    throw first
}

const errorOf = ({ status, message }: Failure): AccessDecision => ({
  decision: false,
  context: { error: { status, message } },
})

type Parts = Readonly<Record<string, unknown>>

/** Required members of entities; other members are never merged with a default. */
const REQUIRED = { subject: ['type', 'id'], action: ['name'], resource: ['type', 'id'] } as const

/**
 * Completes an evaluation from the defaults. An entity replaces its default as a whole, except for
 * required members that it omits. So does a context, except for the agent: without it, the evaluation
 * would be decided by the rules of the subject alone.
 */
function completed(item: unknown, defaults: Parts): AccessEvaluation {
  const own = isRecord(item) ? item : {}
  const whole: Record<string, unknown> = {
    ...own,
    context: contextOf(own['context'], defaults['context']),
  }
  for (const [name, required] of Object.entries(REQUIRED)) {
    whole[name] = entity(own[name], defaults[name], required)
  }
  return checkShape(AccessEvaluation, isRecord(item) ? whole : item)
}

function contextOf(own: unknown, standard: unknown): unknown {
  if (own === undefined) return standard
  if (!isRecord(own) || !isRecord(standard)) return own
  const names = (context: Parts) => Object.hasOwn(context, 'agent') && context['agent'] !== null
  return names(standard) && !names(own) ? { ...own, agent: standard['agent'] } : own
}

function entity(own: unknown, standard: unknown, required: readonly string[]): unknown {
  if (own === undefined) return standard
  if (!isRecord(own) || !isRecord(standard)) return own
  const missing = required.filter((name) => own[name] === undefined)
  return { ...own, ...Object.fromEntries(missing.map((name) => [name, standard[name]])) }
}
