import { toMicroUsd } from '@remit/contract/values'
import type { SpendHoldRow, SpendTotalRow } from '../tables/schema.ts'
import { settleHold } from './settle.ts'
import type { Movement } from './totals-store.ts'

/** Kinds of entries that move spend. */
export const SPENDING = [
  'authorization.decided',
  'entry.appended',
  'enforcement.gap',
  'scorer.ran',
] as const

/** The parts of an entry that spend depends on. */
export interface SpendEntry {
  readonly kind: string
  readonly recordedAt: string
  readonly agentId: string | null
  readonly actorId: string
  readonly decision: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** The spend of an organization, computed from nothing but its entries. */
export class SpendFold {
  readonly #orgId: string
  readonly #holds = new Map<string, SpendHoldRow>()
  readonly #movements: Movement[] = []

  constructor(orgId: string) {
    this.#orgId = orgId
  }

  /** Adds the next entry of the ledger. */
  add(entry: SpendEntry): void {
    if (entry.kind === 'authorization.decided') this.#hold(entry)
    else this.#cost(entry)
  }

  /** The holds and movements at a time; a hold past its end counts no more. */
  at(now: string): { readonly holds: SpendHoldRow[]; readonly movements: Movement[] } {
    const holds = [...this.#holds.values()].map((hold) => {
      const isOver = hold.state === 'held' && hold.expires_at !== null && hold.expires_at <= now
      return isOver ? { ...hold, state: 'expired' as const } : hold
    })
    const over = holds.filter(({ state }) => state === 'expired').map(released)
    return { holds, movements: [...this.#movements, ...over] }
  }

  #hold({ recordedAt, agentId, decision, data }: SpendEntry): void {
    if (decision !== 'allow') return
    const { usd, expires_at: end } = (data['hold'] ?? {}) as { usd?: number; expires_at?: string }
    const hold: SpendHoldRow = {
      org_id: this.#orgId,
      decision_id: String(data['decision_id']),
      agent_id: agentId ?? '',
      day: recordedAt.slice(0, 10),
      held_micro: toMicroUsd(usd ?? 0),
      state: 'held',
      expires_at: end ?? null,
    }
    this.#holds.set(hold.decision_id, hold)
    this.#movements.push({
      agentId: hold.agent_id,
      day: hold.day,
      spent: 0,
      held: hold.held_micro,
    })
  }

  #cost({ recordedAt, agentId, actorId, data }: SpendEntry): void {
    const { cost_usd: cost, decision_id: decisionId } = data
    if (typeof cost !== 'number') return
    const hold = typeof decisionId === 'string' ? this.#holds.get(decisionId) : undefined
    if (hold) {
      this.#movements.push(...settleHold(hold, cost, recordedAt))
      this.#holds.set(hold.decision_id, { ...hold, state: 'settled' })
    } else {
      const day = recordedAt.slice(0, 10)
      this.#movements.push({ agentId: agentId ?? actorId, day, spent: toMicroUsd(cost), held: 0 })
    }
  }
}

/** The movement at the end of a hold that nobody settled. */
export const released = (hold: SpendHoldRow): Movement => ({
  agentId: hold.agent_id,
  day: hold.day,
  spent: 0,
  held: -hold.held_micro,
})

/** The amounts of one agent and window where two sets of totals differ. */
export interface TotalDifference {
  readonly agent_id: string
  readonly window: string
  readonly stored: { readonly spent: number; readonly held: number }
  readonly ledger: { readonly spent: number; readonly held: number }
}

/** Returns the differences, in the order of agents and windows. */
export function differencesOf(
  stored: readonly SpendTotalRow[],
  ledger: readonly SpendTotalRow[],
): TotalDifference[] {
  const keyOf = (row: SpendTotalRow) => JSON.stringify([row.agent_id, row.window_id])
  const [before, after] = [stored, ledger].map(
    (rows) => new Map(rows.map((row) => [keyOf(row), row])),
  )
  const keys = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])].toSorted()
  return keys.flatMap((key) => {
    const [agent_id, window] = JSON.parse(key) as [string, string]
    const difference = {
      agent_id,
      window,
      stored: amountsOf(before?.get(key)),
      ledger: amountsOf(after?.get(key)),
    }
    const { stored: a, ledger: b } = difference
    return a.spent === b.spent && a.held === b.held ? [] : [difference]
  })
}

const amountsOf = (row: SpendTotalRow | undefined) => ({
  spent: row?.spent_micro ?? 0,
  held: row?.held_micro ?? 0,
})
