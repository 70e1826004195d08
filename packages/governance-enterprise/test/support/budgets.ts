import type { Ok } from '@remit/testing'

type Entry = Ok<'listEntries'>['data'][number]

interface Node {
  readonly id: string
  readonly uid: string
  readonly limit: number
  readonly mode: string
  readonly enabled: boolean
  readonly window: string
}

interface Charge {
  readonly budget: string
  readonly uid: string
  readonly value?: string | null
  readonly window: string
  readonly held?: number
  readonly used?: number
  readonly expires_at?: string | null
}

const HOUR = 3_600_000
/** As shares of a micro unit, so that sums are exact. */
const exact = (amount: number): number => Math.round(amount * 1e6)

/**
 * The usage and holds of budgets, computed from the entries alone, in another way than the product
 * does: every amount is kept with its entry, and summed for each decision.
 */
export class LedgerOfBudgets {
  readonly #nodes = new Map<string, Node>()
  /** Open holds by decision, and used amounts. */
  readonly #holds = new Map<string, readonly Charge[]>()
  readonly #used: Charge[] = []
  /** Allows after which a budget was beyond its limit, by amounts that no settlement explains. */
  readonly exceeded: string[] = []
  decided = 0

  add({ kind, recorded_at: at, decision, data, seq }: Entry): void {
    if (!data) return
    const { charges = [], decision_id } = data as { charges?: Charge[]; decision_id?: string }
    if (kind === 'budget.set') {
      const budget = data['budget'] as Node
      this.#nodes.set(budget.uid, budget)
    } else if (kind === 'budget.removed') this.#nodes.delete((data['budget'] as Node).uid)
    else if (kind === 'entry.appended') {
      if (decision_id !== undefined) this.#holds.delete(decision_id)
      this.#used.push(...charges)
    } else if (kind === 'authorization.decided' && decision === 'allow') {
      this.decided++
      this.#holds.set(String(decision_id), charges)
      for (const charge of charges) this.#check(charge, at, seq)
    }
  }

  #check(charge: Charge, at: string, seq: number): void {
    const node = this.#nodes.get(charge.uid)
    if (!node?.enabled || node.mode === 'observe' || !charge.held) return
    const sum = this.sum(charge, at)
    if (sum > exact(node.limit))
      this.exceeded.push(`${node.id} ${charge.window} at ${seq}: ${sum} of ${exact(node.limit)}`)
  }

  /** The holds of a budget in all of its windows, in its unit. */
  heldOf(id: string): number {
    const all = [...this.#holds.values()].flat().filter(({ budget }) => budget === id)
    return all.reduce((sum, { held = 0 }) => sum + exact(held), 0) / 1e6
  }

  /** The amounts in the window of a charge, used and held. */
  sum({ uid, value, window }: Charge, at: string): number {
    const node = this.#nodes.get(uid)
    const isIn = (one: Charge): boolean =>
      one.uid === uid &&
      (one.value ?? null) === (value ?? null) &&
      (node?.window.startsWith('rolling')
        ? Date.parse(at) - startOf(one.window) <
          (node.window === 'rolling_24h' ? 25 : 31 * 24) * HOUR
        : one.window === window)
    let sum = 0
    for (const one of this.#used) if (isIn(one)) sum += exact(one.used ?? 0)
    for (const charges of this.#holds.values())
      for (const one of charges)
        if (isIn(one) && (one.expires_at == null || one.expires_at > at))
          sum += exact(one.held ?? 0)
    return sum
  }
}

const startOf = (window: string): number =>
  Date.parse(window.length === 13 ? `${window}:00:00Z` : window)
