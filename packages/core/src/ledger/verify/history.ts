import type { EntryPayload } from '../format/entry.ts'
import { decodeFrontier, rootOf, isSize } from '../format/merkle.ts'
import { isSignedByAny } from './checkpoints.ts'
import type { ChainCheckpoints } from './checkpoints.ts'
import type { Findings, Recovery, ChainVerifierOptions } from './report.ts'
import { sizeOfNote } from '../format/note.ts'

type Data = EntryPayload['data']

/** The loss of a restore, and the last signing key if it is recorded. */
export interface Loss extends Recovery {
  readonly vkey: string | null
}

const KEPT = 100

/**
 * The recorded history of a chain: prunings at its start, and entries lost in restores from
 * backups.
 */
export class ChainHistory {
  readonly #pruned: { readonly seq: number; readonly cut: number }[] = []
  readonly #recovered: Loss[] = []
  /** The entry that records the state at the start of the verification. */
  #record: number | null = null
  readonly #options: ChainVerifierOptions
  readonly #checkpoints: ChainCheckpoints
  readonly #findings: Findings

  constructor(options: ChainVerifierOptions, checkpoints: ChainCheckpoints, findings: Findings) {
    this.#options = options
    this.#checkpoints = checkpoints
    this.#findings = findings
  }

  get pruned(): readonly { readonly seq: number; readonly cut: number }[] {
    return this.#pruned
  }

  get recovered(): readonly Recovery[] {
    return this.#recovered.map(({ seq, lost }) => ({ seq, lost }))
  }

  /** Returns the recorded loss of a history with a tree of this size. */
  lossOf(size: number): Loss | undefined {
    return this.#recovered.find(({ lost }) => lost.from_seq < size && size <= lost.to_seq + 1)
  }

  /** The entry that records the start of the chain; null if there was none. */
  get record(): number | null {
    return this.#record
  }

  /** Handles an entry `ledger.pruned`. */
  prune(seq: number, data: Data): void {
    const { cut } = data
    if (typeof cut !== 'number' || !isSize(cut) || cut === 0 || cut > seq) {
      this.#findings.add(seq, 'bad_cut', 'cut')
      return
    }
    if (cut === this.#options.start?.size) {
      for (const name of this.#differences(data)) this.#findings.add(seq, 'bad_cut', name)
      this.#record = seq
    }
    keep(this.#pruned, { seq, cut })
  }

  /** Handles an entry `ledger.recovered`. */
  recover(seq: number, data: Data): void {
    const { from_seq, to_seq } = (data['lost'] ?? {}) as Partial<Recovery['lost']>
    if (!isSize(from_seq) || !isSize(to_seq)) return
    const lost = { from_seq: Number(from_seq), to_seq: Number(to_seq) }
    const { vkey } = data
    keep(this.#recovered, { seq, lost, vkey: typeof vkey === 'string' ? vkey : null })
  }

  /** Ends the chain: reports records that are missing. */
  end(): void {
    const { start } = this.#options
    if (start?.pruned === true && this.#record === null) {
      this.#findings.add(start.size, 'unrecorded_cut', `entries below seq ${start.size} are gone`)
    }
  }

  /** Returns the members that contradict the known state at the start of the verification. */
  #differences(data: Data): string[] {
    const { start, ledger_id } = this.#options
    const wanted = {
      hash: start?.hash,
      recorded_at: start?.recorded_at,
      root: start?.frontier && rootOf(decodeFrontier(start.size, start.frontier).nodes),
      vkey: start?.vkey,
      ledger_id,
      origin: (this.#checkpoints.origin ??= String(data['origin'])),
    }
    return Object.entries(wanted).flatMap(([name, value]) =>
      value === undefined || data[name] === value ? [] : [name],
    )
  }
}

function keep<T>(list: T[], item: T): void {
  list.push(item)
  if (list.length > KEPT) list.shift()
}

/**
 * Returns those of some external checkpoints of one ledger that the witness must have signed, but did
 * not: all from the first one on that it signed. Null if it signed none of them.
 */
export function unwitnessed(notes: readonly string[], witness: string): ReadonlySet<string> | null {
  const signed = new Set(notes.filter((note) => isSignedByAny(note, [witness])))
  if (signed.size === 0) return null
  const since = Math.min(...Array.from(signed, (note) => sizeOfNote(note) ?? Infinity))
  return new Set(notes.filter((note) => !signed.has(note) && (sizeOfNote(note) ?? since) >= since))
}
