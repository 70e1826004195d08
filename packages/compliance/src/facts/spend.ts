import { reasonFacts } from '@remit/contract'
import { byWindow, WINDOWS } from '@remit/contract/values'
import type { DecisionFacts, FactEntry, RecordedWindow } from './entry.ts'
import { Cases } from './facts.ts'
import type { CreateMeter } from './meter.ts'
import { metric, ratioOf } from './meter.ts'
import type { FactState } from './state/state.ts'
import { NameCounts } from './name-counts.ts'
import type { SpendLimitState } from './state/rules.ts'

/** Returns whether an amount exceeds a cap, given the usage that the decision recorded. */
const isOver = (cap: number | null, used: RecordedWindow | null | undefined, micro: number) =>
  cap !== null && used != null && used.spentMicro + micro > cap

/**
 * M40, M41, M42: agents that spend without a cap, allows beyond a cap, and denials by one. An
 * invalid USD amount counts as spending without a cap: with a cap it is refused. The usage is taken
 * from the decision, since later settlements, reported by callers, lower it.
 */
export const capsMeter: CreateMeter = ({ seqsOf }) => {
  const uncapped = seqsOf('SPD-1')
  const over = seqsOf('SPD-2')
  const denials = new NameCounts()
  /** Spending agents, and whether they always had a cap. */
  const spenders = new Map<string, boolean>()
  /** Agents with a cap at some time in the period. */
  const capped = new Set<string>()
  /** The windows of agents in which one was allowed more than its cap. */
  const exceeded = byWindow('name', () => new Set<string>())
  /** Allows with an amount, and those under a cap. */
  const spending = new Cases()
  const held = new Cases()
  /** The agent whose limit the previous entry set; the state has it by now. */
  let setFor: string | null = null

  function note({ spendLimits }: FactState): void {
    const set = setFor === null ? undefined : spendLimits.get(setFor)
    if (hasCap(set)) capped.add(set.id)
    setFor = null
  }

  function spend(
    { seq, time }: FactEntry,
    id: string,
    decided: DecisionFacts,
    state: FactState,
  ): void {
    const micro = amountOf(decided)
    if (micro === 0 && !decided.hasInvalidAmount) return
    spending.add(time)
    const limit = state.spendLimits.get(id)
    if (!hasCap(limit)) {
      // The decision itself names caps: the entry that set them was erased.
      if (WINDOWS.some(({ name }) => decided.spend?.windows[name])) return
      if (decided.budgets.length > 0) {
        if (!spenders.has(id)) spenders.set(id, true)
        return
      }
      uncapped.add(seq)
      spenders.set(id, false)
      return
    }
    if (!spenders.has(id)) spenders.set(id, true)
    capped.add(id)
    held.add(time)
    const passed = WINDOWS.filter(({ name }) =>
      isOver(limit.caps[name], decided.spend?.windows[name], micro),
    )
    if (passed.length > 0) over.add(seq)
    for (const { name, letters } of passed)
      exceeded[name].add(`${new Date(time).toISOString().slice(0, letters)} ${id}`)
  }

  return {
    reads: ['authorization.decided', 'spend_limit.*'],
    begin({ spendLimits }) {
      for (const limit of spendLimits.values()) if (hasCap(limit)) capped.add(limit.id)
    },
    entry(entry, state) {
      note(state)
      const { kind, agent_id: id, decision, decided, reason } = entry
      if (kind === 'spend_limit.set') setFor = id
      if (!decided || id === null) return
      if (decision === 'allow') spend(entry, id, decided, state)
      else if (decision === 'deny' && reasonFacts(reason)?.spend === 'cap') denials.add(id)
    },
    end(state) {
      note(state)
      const ok = [...spenders.values()].filter(Boolean).length
      const share = ratioOf(ok, spenders.size)
      const counts = WINDOWS.map(({ name }) => [`agent_${name}s`, exceeded[name].size] as const)
      const value = Object.fromEntries(counts)
      return {
        metrics: [
          metric('M40', share, spenders.size),
          metric('M41', value, capped.size),
          metric(
            'M42',
            { denials: denials.total, agents: denials.size, by_agent: denials.largest },
            denials.total,
          ),
        ],
        checks: [
          uncapped.outcome({
            population: spenders.size,
            value: share,
            cases: spending,
            params: { n: spenders.size - ok },
            fixedBy: cappedSince(spenders, state),
          }),
          over.outcome({
            population: capped.size,
            value,
            cases: held,
            params: { n: counts.reduce((sum, [, size]) => sum + size, 0) },
          }),
        ],
      }
    },
  }
}

/**
 * M53: the share of the allowed spend, in millionths of a US dollar, that is charged to an enforced budget with a
 * parent.
 */
export const sharedMeter: CreateMeter = ({ question: { from } }) => {
  /** The `uid` of each budget with a parent, which never changes. */
  const children = new Set<string>()
  let shared = 0
  let all = 0
  let allows = 0
  return {
    reads: ['authorization.decided', 'budget.set'],
    // Budgets of before the period count in it; its decisions alone are read.
    since: (kind) => (kind === 'budget.set' ? 0 : from),
    entry(entry) {
      if (entry.kind === 'budget.set') {
        const { budget } = entry.read('budget.set')
        if (budget?.parent_id != null && budget.uid != null) children.add(budget.uid)
        return
      }
      const { decided, decision } = entry
      if (!decided || decision !== 'allow') return
      const micro = amountOf(decided)
      if (micro === 0) return
      allows += 1
      all += micro
      if (decided.budgets.some((uid) => children.has(uid))) shared += micro
    },
    end: () => ({ metrics: [metric('M53', ratioOf(shared, all), allows)], checks: [] }),
  }
}

/** The last limit set for agents that spent without one; null while one of them has none. */
function cappedSince(
  spenders: ReadonlyMap<string, boolean>,
  { spendLimits }: FactState,
): number | null {
  const bare = [...spenders].filter(([, isCapped]) => !isCapped)
  const limits = bare.map(([id]) => spendLimits.get(id))
  return limits.every(hasCap) ? Math.max(...limits.map(({ changedSeq }) => changedSeq)) : null
}

/** The spend of an allow, in micro-USD; 0 without an amount. */
export const amountOf = ({ spend, heldMicro }: DecisionFacts): number =>
  Math.max(spend?.amountMicro ?? 0, heldMicro)

/** Returns whether a limit has a cap. */
export const hasCap = (limit: SpendLimitState | undefined): limit is SpendLimitState =>
  limit !== undefined && WINDOWS.some(({ name }) => limit.caps[name] !== null)

/**
 * M15: decisions without spend data. The reason of a denial shows it. An allow for an agent with a
 * cap contains the figures it was checked against; one without them was given without data.
 */
export const unavailableMeter: CreateMeter = ({ seqsOf }) => {
  const allowed = seqsOf('DEC-5')
  let denied = 0
  return {
    reads: ['authorization.decided'],
    entry({ seq, agent_id: id, decision, decided, reason }, { spendLimits }) {
      if (!decided || id === null) return
      if (decision === 'allow') {
        if (spendLimits.size > 0 && !decided.spend && hasCap(spendLimits.get(id))) allowed.add(seq)
      } else if (reasonFacts(reason)?.spend === 'no_data') denied += 1
    },
    end() {
      const value = { allow: allowed.count, deny: denied }
      const population = allowed.count + denied
      return {
        metrics: [metric('M15', value, population)],
        checks: [allowed.outcome({ population, value })],
      }
    },
  }
}
