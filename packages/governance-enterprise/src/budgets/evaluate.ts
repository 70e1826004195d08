/** The decision of the budgets on the path of a request. Pure. */
import type { BudgetState, Reason } from '@remit/contract'
import { fromUnits, isObject, isUnitAmount, toUnits } from '@remit/contract/values'
import { isoTime } from '@remit/core/base'
import { actorOf } from '@remit/core/caller'
import { readingsOf } from '@remit/core/decision'
import type { Ask, Counter, CounterNeed, Counters, Move } from '@remit/core/decision'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import { amountOf, seenContext } from '../base/seen-context.ts'
import type { Charge } from '../counters/charges.ts'
import { pathOf, valuesOf } from './tree.ts'
import type { BudgetTree, Node, Step } from './tree.ts'
import type { BudgetTime } from './windows.ts'

type Read = Pick<Counters, 'of'>

/** An amount as it is counted, see `toUnits`; none; or invalid. */
export type Counted = number | 'missing' | 'invalid'

/** Rows of values that a window may have: anybody can invent users. Further values share one counter. */
const MAX_VALUES = 100_000
/** Budgets in one answer. */
const MAX_SHOWN = 16

const known = new WeakMap<Ask, { readonly tree: BudgetTree; readonly steps: readonly Step[] }>()

/** The budgets that a request or one of its readings matches, parents first. */
export function stepsOf(tree: BudgetTree, ask: Ask): readonly Step[] {
  const last = known.get(ask)
  if (last?.tree === tree) return last.steps
  const steps = pathOf(tree, {
    request: ask.request,
    resource: ask.resource,
    now: ask.now,
    resources: readingsOf(ask).map(({ resource }) => resource),
    user: userOf(ask.claims.subject),
  })
  known.set(ask, { tree, steps })
  return steps
}

const userOf = (subject: Ask['claims']['subject']): string | null => {
  const { type, id } = subject ?? {}
  return typeof type === 'string' && type.toLowerCase() === 'user' && typeof id === 'string'
    ? id
    : null
}

/** The counters that decide about a path. */
export function needsOf(steps: readonly Step[], mayEnd: boolean): CounterNeed[] {
  const needs: CounterNeed[] = []
  const add = (subject: string, { parts }: BudgetTime) => {
    for (const { id: window } of parts) needs.push({ subject, window, mayEnd })
  }
  for (const { node, value, subject, time } of steps) {
    add(subject, time)
    if (value != null) {
      add(node.subject, time)
      for (const { id: window } of time.parts)
        needs.push({ subject: valuesOf(node), window, mayEnd: false })
    }
    for (const child of node.keeps) add(child.subject, time)
  }
  return needs
}

/** The amount of a request in the unit of a budget. */
function amountFor(unit: string, ask: Pick<Ask, 'request'>): Counted {
  if (unit === 'calls') return 1
  const context = seenContext(ask.request)
  if (unit === 'usd') {
    const amount = amountOf(context)
    return typeof amount === 'object' ? amount.micro : amount
  }
  const amounts = Object.hasOwn(context, 'amounts') ? context['amounts'] : null
  if (amounts == null) return 'missing'
  if (!isObject(amounts) || Object.keys(amounts).length > 8) return 'invalid'
  const amount = Object.hasOwn(amounts, unit) ? amounts[unit] : null
  if (amount == null) return 'missing'
  return typeof amount === 'number' && isUnitAmount(unit, amount)
    ? toUnits(unit, amount)
    : 'invalid'
}

/** The sums of a counter over the parts of a window, without its oldest `without` parts. */
export function sumOf(
  counters: Read,
  subject: string,
  { parts }: BudgetTime,
  without = 0,
): { used: number; held: number; before: number } {
  const sum = { used: 0, held: 0, before: 0 }
  for (const { id } of parts.slice(without)) {
    const { used, held, before } = counters.of(subject, id)
    sum.used += used
    sum.held += held
    sum.before += before
  }
  return sum
}

/** The amount that a budget keeps free for its reserved children, except those for which `takes` is true. */
export function keptBy(
  node: Place['node'],
  counters: Read,
  time: BudgetTime,
  takes: (child: Node) => boolean = () => false,
  without = 0,
): number {
  let kept = 0
  for (const child of node.keeps) {
    if (takes(child)) continue
    const { used, held } = sumOf(counters, child.subject, time, without)
    kept += Math.max(0, child.counted - used - held)
  }
  return kept
}

/** A limit on a counter in a window: of a budget, or of an agent. */
export interface Place extends Pick<Step, 'subject' | 'time'> {
  readonly node: Pick<Node, 'counted' | 'keeps'>
}

/** The counted amounts that are not free in a window, without its oldest `without` parts. */
interface Taken {
  readonly used: number
  readonly held: number
  /** For reserved children, except those for which `takes` is true. */
  readonly kept: number
}

function takenOf(
  { node, subject, time }: Place,
  counters: Read,
  takes?: (child: Node) => boolean,
  without?: number,
): Taken {
  const { used, held } = sumOf(counters, subject, time, without)
  return { used, held, kept: keptBy(node, counters, time, takes, without) }
}

/** Without an amount, something has to be left. */
function fits({ counted }: Place['node'], amount: Counted, { used, held, kept }: Taken): boolean {
  const taken = used + held + kept
  return typeof amount === 'number' ? counted > 0 && taken + amount <= counted : taken < counted
}

/** A charge with the budget that it is held on. */
export interface HeldCharge {
  readonly node: Node
  readonly charge: Charge
}

/** The decision of the budgets on a path. */
export interface PathVerdict {
  /** The first budget that denies, parents first. */
  readonly denied: {
    readonly reason: Extract<Reason, 'budget_exceeded' | 'amount_invalid'>
    readonly message: string
    readonly node: Node
  } | null
  readonly retryAt: Retry
  readonly shown: { readonly budgets: BudgetState[]; readonly budgets_omitted?: number }
  /** The charges that an allow holds. */
  readonly charges: readonly HeldCharge[]
  /** The counters that it moves. */
  readonly moves: readonly Move[]
  readonly warnings: readonly string[]
}

/**
 * Returns whether every budget of a path has room: `used + held + amount + kept > limit` denies; without an
 * amount `used + held + kept >= limit`; a limit of 0 denies everything.
 */
export function evaluatePath(
  all: readonly Step[],
  ask: Pick<Ask, 'request' | 'now'>,
  counters: Read,
): PathVerdict {
  const steps = all.map((step) => inPool(step, counters))
  const onPath = new Set(steps.map(({ node }) => node))
  const takes = (child: Node) => onPath.has(child)
  const states: { state: BudgetState; share: number }[] = []
  const charges: HeldCharge[] = []
  const moves: Move[] = []
  const warnings: string[] = []
  let denied: PathVerdict['denied'] = null
  let retryAt: Retry = 0
  for (const step of steps) {
    const { node, subject, time } = step
    const amount = amountFor(node.unit, ask)
    const taken = takenOf(step, counters, takes)
    const state = stateOf(step, taken)
    states.push({ state, share: node.limit === 0 ? 0 : state.remaining / node.limit })
    const isFull = !fits(node, amount, taken)
    const until = isFull ? roomAt(step, amount, counters, takes) : 0
    const refusal = refusalOf(node, amount, until, state)
    if (refusal && node.mode === 'observe') warnings.push(`budget_would_deny: ${node.id}`)
    else if (refusal) {
      denied ??= { ...refusal, node }
      retryAt = laterOf(retryAt, refusal.reason === 'amount_invalid' ? null : until)
    }
    const held = typeof amount === 'number' ? amount : 0
    const ttl = node.hold_ttl_seconds
    charges.push({
      node,
      charge: {
        uid: node.uid,
        ...(step.value !== undefined && { value: step.value }),
        window: time.id,
        held,
        ...(ttl !== null && { until: isoTime(ask.now + ttl * 1000) }),
      },
    })
    if (held === 0) continue
    moves.push({ subject, window: time.id, used: 0, held })
    if (step.value != null && isNew(step, counters))
      moves.push({ subject: valuesOf(node), window: time.id, used: 1, held: 0 })
  }
  const shown = states.toSorted((a, b) => a.share - b.share).map(({ state }) => state)
  return {
    denied,
    retryAt,
    shown: {
      budgets: shown.slice(0, MAX_SHOWN),
      ...(shown.length > MAX_SHOWN && { budgets_omitted: shown.length - MAX_SHOWN }),
    },
    charges,
    moves,
    warnings,
  }
}

/** A value that a release took back to zero is counted already. */
const isNew = ({ subject, time }: Step, counters: Read): boolean =>
  !time.parts.some(({ id }) => counters.of(subject, id).isKnown)

/** A value beyond the bound counts with the requests that have none. */
function inPool(step: Step, counters: Read): Step {
  const { node, value, time } = step
  if (value == null || node.per?.startsWith('label:')) return step
  if (sumOf(counters, valuesOf(node), time).used < MAX_VALUES || !isNew(step, counters)) return step
  return { ...step, value: null, subject: node.subject }
}

function refusalOf(
  { id, unit, limit, on_missing_amount: missing }: Node,
  amount: Counted,
  until: Retry,
  { remaining, resets_at }: BudgetState,
): Omit<NonNullable<PathVerdict['denied']>, 'node'> | null {
  if (amount === 'invalid')
    return {
      reason: 'amount_invalid',
      message: `The budget ${id} counts ${unit}, and the amount of the request is not valid.`,
    }
  if (amount === 'missing' && missing === 'deny')
    return {
      reason: 'amount_invalid',
      message: `The budget ${id} requires an amount in ${unit}, and the request has none.`,
    }
  if (until === 0) return null
  const next =
    until === null
      ? 'The request can never pass.'
      : until === undefined
        ? 'It has room when holds are settled.'
        : `It resets at ${resets_at}.`
  return {
    reason: 'budget_exceeded',
    message: `The budget ${id} of ${limit} ${unit} has ${remaining} left. ${next}`,
  }
}

/** When a request has room: milliseconds, 0 for now; null for never, undefined if nobody knows. */
export type Retry = number | null | undefined

/** When two requirements have room. */
export function laterOf(one: Retry, other: Retry): Retry {
  if (one === null || other === null) return null
  return one === undefined || other === undefined ? undefined : Math.max(one, other)
}

/**
 * When enough of a window has ended for an amount that has no room now. Nobody knows when holds are settled
 * that take the room of a budget without an end.
 */
export function roomAt(
  place: Place,
  amount: Counted,
  counters: Read,
  takes?: (child: Node) => boolean,
): Retry {
  for (const [i, { leaves }] of place.time.parts.entries())
    if (leaves !== null && fits(place.node, amount, takenOf(place, counters, takes, i + 1)))
      return leaves
  const taken = { ...takenOf(place, counters, takes), held: 0 }
  return fits(place.node, amount, taken) ? undefined : null
}

type Standing = Pick<Step, 'node' | 'subject' | 'time'>

/** The numbers of a budget in its unit. */
export function usageOf(place: Standing, counters: Read) {
  const taken = takenOf(place, counters)
  const { unit } = place.node
  return { kept: fromUnits(unit, taken.kept), ...leftOf(place, taken) }
}

function leftOf({ node, time }: Standing, { used, held, kept }: Taken) {
  const { unit, counted } = node
  return {
    used: fromUnits(unit, used),
    held: fromUnits(unit, held),
    remaining: fromUnits(unit, Math.max(0, counted - used - held - kept)),
    resets_at: time.resetsAt,
  }
}

function stateOf(step: Step, taken: Taken): BudgetState {
  const { id, unit, window, limit } = step.node
  return { id, unit, window, limit, ...leftOf(step, taken) }
}

/** Returns the percentages of a limit that its counter reaches in a batch, in order. */
export function reachedPercents(
  counted: number,
  percents: readonly number[],
  { used, held, before }: Counter,
): number[] {
  // As fractions of 100: percent of a large limit exceeds 2^53.
  const isReached = (sum: number, percent: number) => sum / counted >= percent / 100
  return percents
    .filter(
      (percent) => counted > 0 && !isReached(before, percent) && isReached(used + held, percent),
    )
    .toSorted((a, b) => a - b)
}

/** Entries for the percentages of limits that the moves of a batch reach. */
export function thresholdEntries(
  steps: Iterable<Pick<Step, 'node' | 'subject' | 'time' | 'value'>>,
  counters: Read,
): EntryDraft<'budget.threshold'>[] {
  const entries: EntryDraft<'budget.threshold'>[] = []
  for (const { node, subject, time, value } of steps) {
    const sum = sumOf(counters, subject, time)
    for (const percent of reachedPercents(node.counted, node.warn_at, sum)) {
      entries.push({
        kind: 'budget.threshold',
        actor: actorOf(null),
        data: {
          budget_id: node.id,
          ...(value !== undefined && { value }),
          window: time.id,
          threshold_percent: percent,
          limit: node.limit,
          used: fromUnits(node.unit, sum.used + sum.held),
          unit: node.unit,
        },
      })
    }
  }
  return entries
}
