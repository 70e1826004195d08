/** Error codes: docs/ledger-format.md section 10 explains each. */
export type Code =
  | 'malformed_line'
  | 'gap'
  | 'out_of_order'
  | 'broken_link'
  | 'malformed_header'
  | 'time_decreased'
  | 'hash_mismatch'
  | 'commitment_mismatch'
  | 'payload_missing'
  | 'malformed_payload'
  | 'bad_genesis'
  | 'bad_rotation'
  | 'bad_cut'
  | 'malformed_checkpoint'
  | 'checkpoint_signature'
  | 'checkpoint_origin'
  | 'checkpoint_root'
  | 'checkpoint_witness'
  | 'untrusted_key'
  | 'unsigned_tail'
  | 'truncated'
  | 'head_mismatch'

export interface Fault {
  readonly seq: number
  readonly code: Code
  readonly detail?: string
}

const KEPT = 100

/** Counts all errors and keeps the first hundred. */
export class Faults {
  readonly #kept: Fault[] = []
  #first: Fault | null = null
  count = 0
  /** Number of errors that only mean that the end is missing. */
  truncations = 0

  add(seq: number, code: Code, detail?: string): void {
    const fault = { seq, code, ...(detail !== undefined && { detail }) }
    this.count++
    if (code === 'truncated') this.truncations++
    if (this.#kept.length < KEPT) this.#kept.push(fault)
    if (this.#first === null || seq < this.#first.seq) this.#first = fault
  }

  /** The error with the lowest sequence number. */
  get first(): Fault | null {
    return this.#first
  }

  get kept(): readonly Fault[] {
    return this.#kept.toSorted((one, other) => one.seq - other.seq)
  }
}
