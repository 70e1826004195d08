import { hash } from 'node:crypto'
import { Checkpoints } from './checkpoints.ts'
import type { Faults } from './faults.ts'
import { History } from './history.ts'
import type { Entry, Header } from './lines.ts'
import type { Key } from './note.ts'
import { readPayload } from './payload.ts'
import { SigningKeys } from './signing-keys.ts'
import { readFrontier, Tree } from './tree.ts'

const FORMS = {
  org_id: /^[a-z0-9_-]{1,64}$/,
  hash: /^[0-9a-f]{64}$/,
  kind: /^[a-z0-9_.]{1,64}$/,
  time: /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])T([01]\d|2[0-3])(:[0-5]\d){2}\.\d{3}Z$/,
}

/**
 * Verifies the entries of a ledger in one pass, by docs/ledger-format.md: sections 1 to 3 for each
 * entry, 4 for the tree, 5 and 6 for the checkpoints, 9 for erased payloads. Reports every error
 * and continues after it. Memory is used only for unexplained erased payloads and pending
 * checkpoints.
 */
export class Chain {
  readonly checkpoints: Checkpoints
  readonly history: History
  /** The next sequence number, which is the size of the ledger so far. */
  size: number
  entries = 0
  gaps = 0
  /** Missing payloads that a later `ledger.erased` names. */
  erased = 0
  /** Missing payloads without an explanation so far. */
  readonly unexplained = new Set<number>()
  /** The stored hash of the last entry; null if unknown. */
  lastHash: string | null
  readonly #header: Header
  readonly #faults: Faults
  readonly #keys: SigningKeys
  /** Null if the start of the tree is unknown. */
  #tree: Tree | null
  /** The computed hash of the last entry. */
  #trueHash: string | null
  #time: string

  constructor(header: Header, pinned: readonly Key[], faults: Faults) {
    const { from_seq: from, start, origin } = header
    this.#header = header
    this.#faults = faults
    this.#keys = new SigningKeys(pinned)
    if (start?.vkey !== undefined) this.#keys.first(start.vkey)
    this.history = new History(header, faults)
    this.checkpoints = new Checkpoints(this.#keys, faults, origin)
    this.size = from
    this.lastHash = from === 0 ? '0'.repeat(64) : (start?.hash ?? null)
    this.#trueHash = this.lastHash
    this.#time = start?.recorded_at ?? ''
    const frontier = readFrontier(from, start?.frontier ?? '')
    this.#tree = frontier === null ? null : new Tree(from, frontier)
  }

  /** The key in force after the last entry; null if the ledger has named none. */
  get currentKey(): string | null {
    return this.#keys.current
  }

  /** The root of the tree in hex; null if unknown. */
  get root(): string | null {
    return this.#tree?.root().toString('hex') ?? null
  }

  checkpoint(note: string, outside: boolean): void {
    this.checkpoints.add(note, outside, this.size, this.#root)
  }

  entry(entry: Entry): void {
    const { seq } = entry
    if (seq < this.size) {
      this.#faults.add(this.size, 'out_of_order', `entry ${seq} is repeated`)
      return
    }
    if (seq > this.size) this.#jump(seq)
    const before = this.#faults.count
    const computed = this.#checkHeader(entry)
    this.#checkPayload(entry)

    this.entries++
    this.size = seq + 1
    this.lastHash = entry.hash
    this.#trueHash = computed
    // An invalid time must not make every later entry look late.
    if (this.#faults.count === before) this.#time = entry.recorded_at
    this.#tree?.append(Buffer.from(computed, 'hex'))
    this.checkpoints.reach(this.size, this.#root)
  }

  /** Ends the verification; `open`: the file ended early. */
  end(open: boolean): void {
    const { checkpoints, size } = this
    const last = Math.max(0, size - 1)
    const continues = this.#header.partial === true
    // A tail that only these cover is not signed by the available checkpoints.
    if (open || continues) checkpoints.leaveBeyond(size)
    if (!open) {
      if (size === 0) this.#faults.add(0, 'bad_genesis', 'the entry is missing')
      if (this.currentKey !== null && this.currentKey !== this.#header.vkey)
        this.#faults.add(last, 'head_mismatch', 'vkey')
      if (checkpoints.given && checkpoints.largest < size)
        this.#faults.add(Math.max(checkpoints.largest, this.#header.from_seq), 'unsigned_tail')
      if (checkpoints.isUntrusted) this.#faults.add(last, 'untrusted_key')
    }
    checkpoints.end(size)
    // The explanation of a missing payload may be among unavailable entries.
    if (!open && !continues && this.#faults.truncations === 0)
      for (const seq of this.unexplained) this.#faults.add(seq, 'payload_missing')
    checkpoints.settle(this.history)
  }

  readonly #root = (): string | null => {
    if (this.#tree !== null) return this.#tree.root().toString('base64')
    return this.gaps > 0 ? '' : null
  }

  #jump(seq: number): void {
    this.#faults.add(this.size, 'gap', `up to ${seq - 1}`)
    this.gaps++
    this.#tree = null
    this.lastHash = null
  }

  /** Checks link, form, time and hash of a header; returns the computed hash. */
  #checkHeader(entry: Entry): string {
    const { seq, prev_hash, recorded_at, kind, commitment } = entry
    const linked = prev_hash === this.lastHash || prev_hash === this.#trueHash
    if (!linked && this.lastHash !== null) this.#faults.add(seq, 'broken_link')
    const wellFormed =
      FORMS.org_id.test(this.#header.org_id) &&
      FORMS.hash.test(prev_hash) &&
      FORMS.time.test(recorded_at) &&
      FORMS.kind.test(kind) &&
      FORMS.hash.test(commitment)
    if (!wellFormed) this.#faults.add(seq, 'malformed_header')
    if (recorded_at < this.#time) this.#faults.add(seq, 'time_decreased')
    const lines = [
      'ledger-entry/v1',
      this.#header.org_id,
      seq,
      prev_hash,
      recorded_at,
      kind,
      commitment,
    ]
    const computed = hash('sha256', `\0${lines.join('\n')}\n`)
    if (computed !== entry.hash) this.#faults.add(seq, 'hash_mismatch')
    return computed
  }

  #checkPayload({ seq, kind, salt, payload, commitment }: Entry): void {
    const isOwn = kind.startsWith('ledger.')
    if ((seq === 0) !== (kind === 'ledger.genesis')) this.#faults.add(seq, 'bad_genesis', kind)
    if (salt === null && payload === null) {
      // The ledger's own entries explain all others, so nothing can explain their absence.
      if (isOwn) this.#faults.add(seq, 'payload_missing', `${kind} cannot be erased`)
      else this.unexplained.add(seq)
      return
    }
    const text = `ledger-payload/v1\n${salt}\n${payload}`
    if (salt === null || payload === null || hash('sha256', text) !== commitment) {
      this.#faults.add(seq, 'commitment_mismatch')
      return
    }
    const read = readPayload(payload)
    if (read === null) this.#faults.add(seq, 'malformed_payload')
    else if (isOwn) this.#heed(seq, kind, read.data)
  }

  /** Handles an entry about the ledger itself: section 3. */
  #heed(seq: number, kind: string, data: Readonly<Record<string, unknown>>): void {
    if (kind === 'ledger.genesis' && seq === 0) {
      for (const name of ['org_id', 'ledger_id', 'origin'] as const)
        if (data[name] !== this.#header[name]) this.#faults.add(0, 'bad_genesis', name)
      if (!this.#keys.first(data['vkey'])) this.#faults.add(0, 'bad_genesis', 'vkey')
    } else if (kind === 'ledger.key_rotated') {
      if (!this.#keys.rotate(seq, data['old_vkey'], data['new_vkey']))
        this.#faults.add(seq, 'bad_rotation')
    } else if (kind === 'ledger.erased' && Array.isArray(data['seqs'])) {
      for (const gone of data['seqs'] as unknown[])
        if (this.unexplained.delete(gone as number)) this.erased++
    } else if (kind === 'ledger.pruned') {
      this.history.prune(seq, data)
    } else if (kind === 'ledger.recovered') {
      this.history.recover(seq, data)
    }
  }
}
