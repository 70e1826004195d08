import { isoTime } from '@remit/core/base'
import type { Ask, CounterNeed, Counters, Pass, Stage, StageVerdict } from '@remit/core/decision'
import type { EntryDraft } from '@remit/core/ledger/lanes'
import type { Amount } from '../base/seen-context.ts'
import { evaluatePath, laterOf, needsOf as pathNeeds, stepsOf } from './evaluate.ts'
import type { Retry } from './evaluate.ts'
import { recordedCharge, reachedBy } from './settle.ts'
import { overlaidBudgets, treeOf } from './tree.ts'
import type { BudgetSource, BudgetTree } from './tree.ts'
import type { ReadBudgets } from './store.ts'
import type { SpendHoldRow } from '../tables/schema.ts'
import type { SpendLimitInput, SpendState } from '@remit/contract'
import { byWindow, fromMicroUsd, toMicroUsd, WINDOWS } from '@remit/contract/values'
import type { Window } from '@remit/contract/values'
import { amountOf, seenContext } from '../base/seen-context.ts'
import { subjectOf, withCharges } from '../counters/charges.ts'
import { agentsWithEndingHolds, holdRows } from '../counters/store.ts'
import type { Charge } from '../counters/charges.ts'
import { compiledLimits } from './store.ts'
import {
  evaluateSpend,
  heldMoves,
  microOf,
  needsOf,
  thresholdEntries,
  UNCAPPED,
  windowsAt,
} from './limits.ts'
import type { Limit, Windows } from './limits.ts'
import type { MeasureSpend, MeasuredSpend } from './measure.ts'

interface Snapshot {
  readonly limits: ReadonlyMap<string, Limit>
  /** Agents with expiring holds. */
  readonly ending: ReadonlySet<string>
  readonly budgets: BudgetSource
  readonly tree: BudgetTree | null
}

const compiled = (budgets: BudgetSource) => ({ budgets, tree: treeOf(budgets) })

interface State {
  readonly limits: ReadonlyMap<string, Limit>
  readonly windows: Windows
  readonly counters: Counters
  readonly tree: BudgetTree | null
  /** Spend from another source than the ledger. */
  readonly measured: MeasuredSpend | undefined
}

/** The hold of an allow. */
interface Hold {
  readonly micro: number
  readonly expiresAt: string | null
  readonly charges?: readonly Charge[]
}

/**
 * The slot `spend_limit`. An allow holds its amount in the transaction that records it. `measure`
 * queries an external source; without it, the ledger's totals count.
 */
export function spendStage(
  measure: MeasureSpend | null,
  readBudgets: ReadBudgets,
): Stage<Snapshot, MeasuredSpend, State> {
  return {
    unavailable: {
      reason: 'spend_unavailable',
      message: 'The spend data of the agent cannot be read.',
    },

    reads: ['spend_limits', 'budgets', 'agents'],

    async load({ orgId, tx }) {
      const ending = await agentsWithEndingHolds(tx, orgId)
      return {
        limits: await compiledLimits(tx, orgId),
        ending: new Set(ending),
        ...compiled(await readBudgets(tx, orgId)),
      }
    },

    overlay(snapshot, { spend_limits: change, budgets }) {
      const tried = budgets && compiled(overlaidBudgets(snapshot.budgets, budgets))
      if (!change) return { ...snapshot, ...tried }
      const limits = new Map(snapshot.limits)
      for (const id of change.remove) limits.delete(id)
      for (const limit of change.set) limits.set(limit.agent_id, limitOf(limit))
      return { ...snapshot, ...tried, limits }
    },

    ...(measure && {
      gather: (asks, { limits }) => measure(asks, limits),
    }),

    counts(asks, { limits, ending, tree }, now) {
      const needs = new Map<string, readonly CounterNeed[]>()
      if (limits.size === 0 && !tree) return []
      const windows = windowsAt(now)
      for (const { request } of asks) {
        const limit = limits.get(request.agent_id)
        if (!limit || needs.has(limit.agentId)) continue
        const mayEnd = limit.holdTtlSeconds !== null || ending.has(limit.agentId)
        needs.set(limit.agentId, needsOf(limit.agentId, windows, mayEnd))
      }
      const ofLimits = [...needs.values()].flat()
      if (!tree) return ofLimits
      return [...ofLimits, ...asks.flatMap((ask) => pathNeeds(stepsOf(tree, ask), tree.mayEnd))]
    },

    async prepare(_asks, { limits, tree }, { now, counters }, measured) {
      if (!counters) throw new Error('nothing reads counters')
      const windows = windowsAt(now)
      for (const [agentId, amounts] of measured ?? []) {
        if (!amounts) continue
        for (const { name } of WINDOWS) {
          const usd = amounts[name]
          if (usd === undefined) continue
          const counter = counters.of(agentId, windows[name].id)
          counter.used = toMicroUsd(usd)
          counter.before = counter.used + counter.held
        }
      }
      return { limits, windows, counters, measured, tree }
    },

    decide: decideSpend,

    async record(effects, { limits, windows, counters, tree }, { orgId, now, writes }) {
      const holds: SpendHoldRow[] = []
      const limited = new Set<Limit>()
      const charged: Charge[] = []
      for (const { ask, effect } of effects) {
        const { micro, expiresAt, charges } = effect as Hold
        const { agent_id } = ask.request
        holds.push({
          org_id: orgId,
          decision_id: ask.decisionId,
          agent_id,
          day: windows.day.id,
          hour: windows.hour.id,
          held_micro: micro,
          state: 'held',
          expires_at: expiresAt,
          charges: null,
          charges_until: null,
          ...(charges && withCharges(charges)),
        })
        if (charges) charged.push(...charges)
        const limit = limits.get(agent_id)
        if (limit) limited.add(limit)
      }
      writes.push(holdRows(holds))
      const entries: EntryDraft[] = []
      for (const limit of limited) entries.push(...thresholdEntries(limit, windows, counters))
      if (tree && charged.length > 0)
        entries.push(
          ...reachedBy(
            charged.map(({ uid, value }) => subjectOf(uid, value)),
            tree,
            counters,
            now,
          ),
        )
      return entries
    },
  }
}

function decideSpend(ask: Ask, state: State): StageVerdict {
  const { limits, windows, counters, measured, tree } = state
  const { agent_id } = ask.request
  const amount = amountOf(seenContext(ask.request))
  const limit = limits.get(agent_id)
  // Spend before a limit exists counts too, so amounts are held without one.
  if (!limit) {
    const pass = holding(amount, null, ask, windows)
    return tree ? withBudgets(pass, 0, tree, ask, counters) : pass
  }
  const isKnown = !measured || measured.get(agent_id) != null
  const verdict = evaluateSpend(limit, amount, isKnown ? counters : null, windows)
  const matched = [{ kind: 'spend_limit', id: agent_id }]
  const { spend } = verdict
  if (verdict.denied === null) {
    const pass = holding(amount, limit, ask, windows)
    // Nothing of this month was spent or is held: neither requests nor entries may name amounts.
    const { used, held } = counters.of(agent_id, windows.month.id)
    const countsNothing = !measured && amount === 'missing' && used + held === 0
    const passed: Pass = {
      ...pass,
      notes: {
        matched,
        ...(countsNothing && { warnings: ['spend_limit_counts_nothing'] }),
        answer: { spend: verdict.spend },
        data: { ...pass.notes?.data, spend: recorded(verdict.spend) },
      },
    }
    return tree ? withBudgets(passed, 0, tree, ask, counters) : passed
  }
  const { retryAt } = verdict
  const denial: Denial = {
    verdict: 'deny',
    reason: verdict.denied,
    message: verdict.message,
    notes: {
      matched,
      answer: {
        ...(spend && { spend }),
        ...(verdict.limitUsd !== undefined && { limit_usd: verdict.limitUsd }),
      },
      data: spend ? { spend: recorded(spend) } : {},
    },
  }
  return withBudgets(denial, retryAt, tree, ask, counters)
}

type Denial = Extract<StageVerdict, { verdict: 'deny' }>

/** The member `retry_at`: a time, null for never, or none. */
const retry = (at: Retry) =>
  at === null ? { retry_at: null } : at ? { retry_at: isoTime(at) } : {}

/** Returns the verdict of a spend limit together with that of the budgets; both have to pass. */
function withBudgets(
  verdict: Pass | Denial,
  retryAt: Retry,
  tree: BudgetTree | null,
  ask: Ask,
  counters: Counters,
): StageVerdict {
  const { notes } = verdict
  const steps = tree ? stepsOf(tree, ask) : []
  if (steps.length === 0)
    return retryAt === 0
      ? verdict
      : { ...verdict, notes: { ...notes, answer: { ...notes?.answer, ...retry(retryAt) } } }
  const path = evaluatePath(steps, ask, counters)
  const answer = { ...notes?.answer, ...path.shown, ...retry(laterOf(retryAt, path.retryAt)) }
  const warnings = [...(notes?.warnings ?? []), ...path.warnings]
  const more = { ...notes, answer, ...(warnings.length > 0 && { warnings }) }
  if (verdict.verdict === 'deny') return { ...verdict, notes: more }
  if (path.denied) {
    const { reason, message, node } = path.denied
    const matched = [{ kind: 'budget', id: node.id, revision: node.revision }]
    return { verdict: 'deny', reason, message, notes: { ...more, matched } }
  }
  const charges = path.charges.map(({ charge }) => charge)
  return {
    ...verdict,
    effect: { ...(verdict.effect as Hold), charges } satisfies Hold,
    moves: [...(verdict.moves ?? []), ...path.moves],
    allowed: { ...verdict.allowed, charges: path.charges.map(recordedCharge) },
    notes: more,
  }
}

/** The spend in an entry: the caps and the usage; the rest can be derived. */
function recorded(spend: SpendState) {
  const windows: Record<Window['word'], { limit_usd: number; spent_usd: number } | null> = {
    ...UNCAPPED,
  }
  for (const { word } of WINDOWS) {
    const window = spend[word]
    if (window) windows[word] = { limit_usd: window.limit_usd, spent_usd: window.spent_usd }
  }
  return { amount_usd: spend.amount_usd, ...windows }
}

function holding(amount: Amount, limit: Limit | null, ask: Ask, windows: Windows): Pass {
  const micro = typeof amount === 'object' ? amount.micro : 0
  // An allow without an amount also has a hold, of zero: it can be settled once.
  if (micro === 0) {
    const nothing: Pass = { verdict: 'pass', effect: { micro, expiresAt: null } satisfies Hold }
    // Without a limit nothing is refused, but the request may have spent something.
    return amount === 'invalid'
      ? { ...nothing, notes: { data: { amount_invalid: true } } }
      : nothing
  }
  const ttl = limit?.holdTtlSeconds ?? null
  const hold: Hold = { micro, expiresAt: ttl === null ? null : isoTime(ask.now + ttl * 1000) }
  return {
    verdict: 'pass',
    effect: hold,
    moves: heldMoves(ask.request.agent_id, windows, micro),
    allowed: { hold: { usd: fromMicroUsd(micro), expires_at: hold.expiresAt } },
  }
}

const limitOf = (input: SpendLimitInput & { readonly agent_id: string }): Limit => ({
  agentId: input.agent_id,
  caps: byWindow('name', ({ cap }) => microOf(input[cap])),
  onMissingAmount: input.on_missing_amount,
  holdTtlSeconds: input.hold_ttl_seconds,
})
