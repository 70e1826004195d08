import type { Move } from '@remit/core/decision'
import type { EntryDraft, LedgerScope } from '@remit/core/ledger/lanes'
import { ByVersion } from '../base/by-version.ts'
import { reachedBy, timesOf } from './settle.ts'
import type { BudgetTree } from './tree.ts'
import type { LoadTree } from './store.ts'
import { compiledLimits } from './store.ts'
import { needsOf, thresholdEntries, windowsAt } from './limits.ts'
import type { Limit } from './limits.ts'
import { readCounters } from '../counters/store.ts'

/** Records the shares of caps and budgets that appends reach. */
export class AppendThresholds {
  readonly #limits = new ByVersion<ReadonlyMap<string, Limit>>()
  readonly #trees = new ByVersion<BudgetTree | null>()
  readonly #countsSpend: boolean
  readonly #loadTree: LoadTree

  /** With an external spend source, `countsSpend` is false: appends do not count towards limits. */
  constructor(countsSpend: boolean, loadTree: LoadTree) {
    this.#countsSpend = countsSpend
    this.#loadTree = loadTree
  }

  /** The budgets of the organization. */
  tree(scope: LedgerScope): Promise<BudgetTree | null> {
    return this.#trees.at(scope, () => this.#loadTree(scope.tx, scope.orgId))
  }

  /** Entries for the shares that `moves` reach; call it before their rows are written. */
  async entries(moves: readonly Move[], scope: LedgerScope): Promise<EntryDraft[]> {
    const spending = moves.filter(({ used }) => used > 0)
    if (spending.length === 0) return []
    const { orgId, tx, now } = scope
    const subjects = [...new Set(spending.map(({ subject }) => subject))]
    const limits = this.#countsSpend
      ? await this.#limits.at(scope, () => compiledLimits(tx, orgId))
      : NONE
    const limited = subjects.flatMap((subject) => limits.get(subject) ?? [])
    const tree = await this.tree(scope)
    const charged = tree ? timesOf(subjects, tree, now) : []
    const windows = windowsAt(now)
    // Holds past their end are among the stored ones and do not count.
    const needs = [
      ...limited.flatMap(({ agentId }) => needsOf(agentId, windows, true)),
      ...charged.flatMap(({ subject, time }) =>
        time.parts.map(({ id }) => ({ subject, window: id, mayEnd: true })),
      ),
    ]
    const counters = await readCounters(needs, scope)
    counters.apply(moves)
    return [
      ...limited.flatMap((limit) => thresholdEntries(limit, windows, counters)),
      ...(tree ? reachedBy(subjects, tree, counters, now) : []),
    ]
  }
}

const NONE: ReadonlyMap<string, Limit> = new Map()
