import { hash } from 'node:crypto'
import type { Faults } from './faults.ts'
import { History } from './history.ts'
import type { Entry, Header } from './lines.ts'
import { isSignedBy, readKey } from './note.ts'
import type { Key } from './note.ts'
import { readPayload } from './jcs.ts'
import { committedText, headerOf, leafText, readCheckpoint } from './pure.ts'
import type { Checkpoint } from './pure.ts'
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
    const computed = hash('sha256', leafText(headerOf(this.#header.org_id, entry)))
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
    const isWhole = salt !== null && payload !== null
    if (!isWhole || hash('sha256', committedText(salt, payload)) !== commitment) {
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

interface Waiting {
  readonly checkpoint: Checkpoint
  /** It was stored outside of the ledger's database. */
  readonly outside: boolean
}

/**
 * The checkpoints that an export is compared with: each waits until the tree has grown to its size.
 * A root is base64; null if the start of the tree is unknown, '' after a gap, which equals no root.
 */
class Checkpoints {
  checked = 0
  wrong = 0
  /** Number of those not compared, because the tree at their size was unknown. */
  passed = 0
  /** Number of those beyond the end of a partial export. */
  beyond = 0
  /** Sizes of the largest matching ones: external, and signed by a declared or pinned key. */
  outside = -1
  #signed: { readonly size: number; readonly vkey: string } | null = null
  #reached = -1
  /** External ones with another root or another signer. */
  readonly #disputed: { readonly checkpoint: Checkpoint; readonly isSigned: boolean }[] = []
  readonly #waiting = new Map<number, Waiting[]>()
  readonly #keys: SigningKeys
  readonly #faults: Faults
  readonly #origin: string

  constructor(keys: SigningKeys, faults: Faults, origin: string) {
    this.#keys = keys
    this.#faults = faults
    this.#origin = origin
  }

  /** True if there was any. */
  get given(): boolean {
    return this.checked + this.passed + this.#waiting.size > 0
  }

  /** The largest size of a given one, matching or not, also beyond the end. */
  get largest(): number {
    return largest(this.#reached, this.#waiting.keys())
  }

  /** The size up to which a trusted key has signed; -1 for none. */
  get trusted(): number {
    return this.#signed !== null && this.#keys.isTrusted(this.#signed.vkey) ? this.#signed.size : -1
  }

  /** True if a key was pinned, but the newest valid checkpoint has an untrusted signer. */
  get isUntrusted(): boolean {
    return this.#keys.hasPinned && this.#signed !== null && this.trusted < 0
  }

  /** Adds a checkpoint as text, when the tree had `size` leaves. */
  add(note: string, outside: boolean, size: number, root: () => string | null): void {
    const checkpoint = readCheckpoint(note)
    if (checkpoint === null) {
      this.checked++
      this.#isWrong(size, 'malformed_checkpoint')
    } else if (checkpoint.size === size) {
      this.#compare({ checkpoint, outside }, root())
    } else if (checkpoint.size < size) {
      this.#pass(checkpoint)
    } else {
      const others = this.#waiting.get(checkpoint.size) ?? []
      this.#waiting.set(checkpoint.size, [...others, { checkpoint, outside }])
    }
  }

  /** Reports one that the witness must have signed. It confirms nothing. */
  refuseUnwitnessed({ size }: Checkpoint): void {
    this.checked++
    this.#isWrong(size, 'checkpoint_witness')
  }

  /** Compares the checkpoints of this size. */
  reach(size: number, root: () => string | null): void {
    const due = this.#waiting.get(size)
    if (due === undefined) return
    this.#waiting.delete(size)
    for (const one of due) this.#compare(one, root())
  }

  /** Drops those beyond `size`: their entries are not in the export. */
  leaveBeyond(size: number): void {
    for (const [at, waiting] of this.#waiting) {
      if (at <= size) continue
      this.beyond += waiting.length
      this.#waiting.delete(at)
    }
  }

  /** Reports those still pending after `size` entries. */
  end(size: number): void {
    for (const { checkpoint } of [...this.#waiting.values()].flat()) {
      this.checked++
      if (checkpoint.size < size)
        this.#isWrong(checkpoint.size, 'checkpoint_root', 'entries are missing before it')
      else this.#truncated(checkpoint, size)
    }
  }

  /**
   * Reports contradicting external ones at the end: a recorded restore from a backup explains those
   * of lost entries.
   */
  settle(history: History): void {
    for (const { checkpoint, isSigned } of this.#disputed) {
      const { size } = checkpoint
      const loss = history.lossOf(size)
      const isLost = loss && (isSigned || this.#keys.isSignedByAny(checkpoint, loss.vkey))
      if (!isLost && !isSigned) {
        this.#isWrong(size, 'checkpoint_signature')
      } else if (!isLost) {
        this.#isWrong(size, 'checkpoint_root', `signed for size ${size}`)
      } else {
        const { seq, lost } = loss
        const range = `${lost.from_seq} to ${lost.to_seq}`
        this.wrong++
        this.#faults.add(lost.from_seq, 'truncated', `entry ${seq} records that ${range} were lost`)
      }
    }
  }

  #compare({ checkpoint, outside }: Waiting, root: string | null): void {
    const { size } = checkpoint
    if (root === null) {
      this.#pass(checkpoint)
      return
    }
    this.#reached = Math.max(this.#reached, size)
    this.checked++
    const signer = this.#keys.signerOf(checkpoint)
    const isOurs = checkpoint.origin === this.#origin
    if (signer === 'wrong' && outside && isOurs) {
      this.#disputed.push({ checkpoint, isSigned: false })
    } else if (signer === 'wrong') {
      this.#isWrong(size, 'checkpoint_signature')
    } else if (!isOurs) {
      this.#isWrong(size, 'checkpoint_origin', checkpoint.origin)
    } else if (checkpoint.root !== root && outside && root !== '') {
      this.#disputed.push({ checkpoint, isSigned: true })
    } else if (checkpoint.root !== root) {
      this.#isWrong(size, 'checkpoint_root', `signed for size ${size}`)
    } else {
      if (outside) this.outside = Math.max(this.outside, size)
      if (signer === 'unknown') return
      this.#keys.vouch(signer, size)
      const { vkey } = this.#keys.successorOf(checkpoint) ?? signer
      if (size >= (this.#signed?.size ?? 0)) this.#signed = { size, vkey }
    }
  }

  /** Reports missing signed entries, unless the checkpoint itself is invalid. */
  #truncated(checkpoint: Checkpoint, size: number): void {
    if (this.#keys.signerBeyond(checkpoint) === 'wrong') {
      this.#isWrong(size, 'checkpoint_signature')
    } else if (checkpoint.origin !== this.#origin) {
      this.#isWrong(size, 'checkpoint_origin', checkpoint.origin)
    } else {
      this.wrong++
      this.#faults.add(size, 'truncated', `a checkpoint of size ${checkpoint.size} exists`)
    }
  }

  #pass({ size }: Checkpoint): void {
    this.#reached = Math.max(this.#reached, size)
    this.passed++
  }

  #isWrong(
    size: number,
    code:
      | 'malformed_checkpoint'
      | 'checkpoint_signature'
      | 'checkpoint_origin'
      | 'checkpoint_root'
      | 'checkpoint_witness',
    detail?: string,
  ): void {
    this.wrong++
    this.#faults.add(Math.max(0, size - 1), code, detail)
  }
}

/** Returns the largest size; there may be more of them than a call can have arguments. */
function largest(first: number, others: Iterable<number>): number {
  let found = first
  for (const size of others) if (size > found) found = size
  return found
}

/** The signer of a checkpoint: a key, an invalid signature, or an unknown key. */
type Signer = Key | 'wrong' | 'unknown'

/**
 * The signing keys by size, as the ledger itself declares them, and their trust
 * (docs/ledger-format.md section 6). The declaration alone proves nothing: a rewritten ledger can
 * declare other keys.
 */
class SigningKeys {
  /** In order of `from`: the smallest size of a checkpoint that the key signs. */
  readonly #named: { readonly key: Key; readonly from: number }[] = []
  readonly #pinned: readonly Key[]
  readonly #trusted: Set<string>

  constructor(pinned: readonly Key[]) {
    this.#pinned = pinned
    this.#trusted = new Set(pinned.map(({ vkey }) => vkey))
  }

  get hasPinned(): boolean {
    return this.#pinned.length > 0
  }

  /** The key in force after the last entry; null if the ledger has named none. */
  get current(): string | null {
    return this.#named.at(-1)?.key.vkey ?? null
  }

  isTrusted(vkey: string): boolean {
    return this.#trusted.has(vkey)
  }

  /** Sets the key of genesis, or of the start of an export. False for an invalid key. */
  first(vkey: unknown): boolean {
    return this.#name(vkey, 0)
  }

  /**
   * Handles a rotation by entry `seq`. The checkpoint of size `seq` + 1 ends with it and is still
   * signed by the old key, larger ones by the new key. False unless the old key is the one in
   * force.
   */
  rotate(seq: number, old: unknown, next: unknown): boolean {
    const { current } = this
    // A partial export declares the previous key only here.
    const known = current === null ? this.#name(old, 0) : current === old
    return known && this.#name(next, seq + 2)
  }

  signerOf({ note, size }: Checkpoint): Signer {
    const named = this.#named.findLast(({ from }) => from <= size)?.key
    if (named === undefined && !this.hasPinned) return 'unknown'
    return firstOf(note, named === undefined ? this.#pinned : [named])
  }

  /**
   * Returns the next key if it is trusted and signed this checkpoint too, which is the last of the
   * old key.
   */
  successorOf({ note, size }: Checkpoint): Key | null {
    const next = this.#named.find(({ from }) => from === size + 1)?.key
    return next !== undefined && this.isTrusted(next.vkey) && isSignedBy(note, next) ? next : null
  }

  /** Like `signerOf` beyond the last entry, where the missing entries may include a rotation. */
  signerBeyond(checkpoint: Checkpoint): Signer {
    const signer = this.signerOf(checkpoint)
    return signer === 'wrong' ? firstOf(checkpoint.note, this.#pinned) : signer
  }

  /**
   * Returns true if any key signed it that the ledger declared, that is pinned, or that `also` is.
   */
  isSignedByAny({ note }: Checkpoint, also: unknown): boolean {
    const other = typeof also === 'string' ? readKey(also) : null
    const keys = [...this.#named.map(({ key }) => key), ...this.#pinned, ...(other ? [other] : [])]
    return keys.some((key) => isSignedBy(note, key))
  }

  /**
   * Records a key that signed the correct root of this size: if it is trusted, so is its successor.
   */
  vouch({ vkey }: Key, size: number): void {
    const next = this.#named.find(({ from }) => from === size + 1)
    if (next !== undefined && this.isTrusted(vkey)) this.#trusted.add(next.key.vkey)
  }

  #name(vkey: unknown, from: number): boolean {
    const key = typeof vkey === 'string' ? readKey(vkey) : null
    if (key !== null) this.#named.push({ key, from })
    return key !== null
  }
}

const firstOf = (note: string, keys: readonly Key[]): Key | 'wrong' =>
  keys.find((key) => isSignedBy(note, key)) ?? 'wrong'
