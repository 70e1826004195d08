import type { Faults } from './faults.ts'
import { isCount } from './lines.ts'
import type { Header } from './lines.ts'
import { readFrontier, rootOf } from './tree.ts'

/**
 * A restore from a backup, as recorded by entry `seq`: these entries of an earlier history are
 * lost.
 */
export interface Recovery {
  readonly seq: number
  readonly lost: { readonly from_seq: number; readonly to_seq: number }
}

/** With the last signing key of the lost history, if it is recorded. */
interface Loss extends Recovery {
  readonly vkey: unknown
}

/** A pruning, as recorded by entry `seq`: `cut` is the first remaining entry. */
export interface Pruning {
  readonly seq: number
  readonly cut: number
}

type Data = Readonly<Record<string, unknown>>

const KEPT = 100

/** The recorded history of a ledger: docs/ledger-format.md sections 9 and 10. */
export class History {
  /** The newest hundred of each. */
  readonly pruned: Pruning[] = []
  readonly #losses: Loss[] = []
  /** The entry that records the start of the export; null if there was none. */
  record: number | null = null
  readonly #header: Header
  readonly #faults: Faults

  constructor(header: Header, faults: Faults) {
    this.#header = header
    this.#faults = faults
  }

  /** Handles an entry `ledger.pruned`. Its state at the start of the export must match. */
  prune(seq: number, data: Data): void {
    const { cut } = data
    if (!isCount(cut) || cut === 0 || cut > seq) {
      this.#faults.add(seq, 'bad_cut', 'cut')
      return
    }
    if (cut === this.#header.from_seq) {
      this.record = seq
      for (const [name, value] of Object.entries(this.#beginning()))
        if (value !== undefined && data[name] !== value) this.#faults.add(seq, 'bad_cut', name)
    }
    keep(this.pruned, { seq, cut })
  }

  /** Handles an entry `ledger.recovered`. */
  recover(seq: number, data: Data): void {
    const { from_seq, to_seq } = (data['lost'] ?? {}) as { from_seq?: unknown; to_seq?: unknown }
    if (isCount(from_seq) && isCount(to_seq))
      keep(this.#losses, { seq, lost: { from_seq, to_seq }, vkey: data['vkey'] })
  }

  get recovered(): Recovery[] {
    return this.#losses.map(({ seq, lost }) => ({ seq, lost }))
  }

  /** Returns the recovery that lost the history with a tree of this size. */
  lossOf(size: number): Loss | undefined {
    return this.#losses.find(({ lost }) => lost.from_seq < size && size <= lost.to_seq + 1)
  }

  /** Returns the known state at the start of the export. */
  #beginning(): Readonly<Record<string, string | undefined>> {
    const { from_seq, start, ledger_id, origin } = this.#header
    const frontier = start && readFrontier(from_seq, start.frontier)
    return {
      hash: start?.hash,
      recorded_at: start?.recorded_at,
      root: frontier ? rootOf(frontier).toString('hex') : undefined,
      vkey: start?.vkey,
      ledger_id,
      origin,
    }
  }
}

function keep<T>(list: T[], one: T): void {
  list.push(one)
  if (list.length > KEPT) list.shift()
}
