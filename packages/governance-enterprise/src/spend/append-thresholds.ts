import type { Move } from '@remit/core/decision'
import type { EntryDraft, LedgerScope } from '@remit/core/ledger/lanes'
import { ByVersion } from '../base/by-version.ts'
import { readCounters } from '../counters/store.ts'
import { needsOf, thresholdEntries, windowsAt } from './evaluate.ts'
import type { Limit } from './evaluate.ts'
import { compiledLimits } from './limits-store.ts'

/** Records the shares of caps that appends reach. */
export class AppendThresholds {
  readonly #limits = new ByVersion<ReadonlyMap<string, Limit>>()

  /** Entries for the shares that `moves` reach; call it before their rows are written. */
  async entries(moves: readonly Move[], scope: LedgerScope): Promise<EntryDraft[]> {
    const spending = moves.filter(({ used }) => used > 0)
    if (spending.length === 0) return []
    const { orgId, tx, now } = scope
    const limits = await this.#limits.at(scope, () => compiledLimits(tx, orgId))
    const agents = [...new Set(spending.map(({ subject }) => subject))]
    const limited = agents.flatMap((agent) => limits.get(agent) ?? [])
    const windows = windowsAt(now)
    // Holds past their end are among the stored ones and do not count.
    const needs = limited.flatMap(({ agentId }) => needsOf(agentId, windows, true))
    const counters = await readCounters(needs, scope)
    counters.apply(moves)
    return limited.flatMap((limit) => thresholdEntries(limit, windows, counters))
  }
}
