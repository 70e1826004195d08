import {
  entryHash,
  headerFault,
  headerOf,
  ZERO_HASH,
  commitmentOf,
  GENESIS_KIND,
  parsePayload,
} from '../format/entry.ts'
import type { StoredEntry, EntryPayload } from '../format/entry.ts'
import { decodeFrontier, encodeFrontier, MerkleTree } from '../format/merkle.ts'
import { ChainCheckpoints } from './checkpoints.ts'
import type { RootNow } from './checkpoints.ts'
import { ChainHistory } from './history.ts'
import { ChainKeys } from './keys.ts'
import { Findings } from './report.ts'
import type {
  ChainReport,
  Recovery,
  ChainEnd,
  ChainVerifier,
  ChainVerifierOptions,
} from './report.ts'

export type { ChainEnd, ChainVerifier, ChainVerifierOptions } from './report.ts'

/**
 * Verifies one chain as its entries stream by, from a database or an export: no I/O, no waiting,
 * and memory only for erased payloads and pending checkpoints. Continues after a broken entry, so
 * that the report shows the extent of the damage. Throws a RangeError for a `start` whose frontier
 * does not match its size.
 */
export function createChainVerifier(options: ChainVerifierOptions): ChainVerifier {
  return new Walk(options)
}

class Walk implements ChainVerifier {
  readonly #options: ChainVerifierOptions
  readonly #from: number
  readonly #findings = new Findings()
  readonly #keys: ChainKeys
  readonly #checkpoints: ChainCheckpoints
  readonly #payloads: ChainPayloads
  readonly #history: ChainHistory
  /** Kinds of valid headers so far. */
  readonly #kinds = new Set<string>()
  #tree: MerkleTree | null
  #next: number
  /**
   * Accepted previous hashes of the next entry: the stored hash of the last one, and the computed
   * one.
   */
  #prev: string | null
  #prevTrue: string | null
  #time: string
  #entries = 0
  #gaps = 0

  constructor(options: ChainVerifierOptions) {
    const { start, verifiers = [], origin = null } = options
    this.#options = options
    this.#from = start?.size ?? 0
    this.#next = this.#from
    this.#prev = this.#from === 0 ? ZERO_HASH : (start?.hash ?? null)
    this.#prevTrue = this.#prev
    this.#time = start?.recorded_at ?? ''
    this.#keys = new ChainKeys(verifiers)
    if (start?.vkey !== undefined) this.#keys.declare(start.vkey)
    this.#checkpoints = new ChainCheckpoints(this.#keys, this.#findings, origin)
    this.#history = new ChainHistory(options, this.#checkpoints, this.#findings)
    this.#payloads = new ChainPayloads(
      options,
      this.#keys,
      this.#checkpoints,
      this.#history,
      this.#findings,
    )
    const frontier = this.#from === 0 ? '' : start?.frontier
    this.#tree =
      frontier === undefined
        ? null
        : new MerkleTree(decodeFrontier(this.#from, frontier), options.onTileNode)
  }

  entry(row: StoredEntry): void {
    const { seq } = row
    if (seq !== this.#next && !this.#resume(seq)) return
    const before = this.#findings.count
    if (row.org_id !== this.#options.org_id) this.#findings.add(seq, 'wrong_org')
    this.#checkLink(row)
    const hash = entryHash(headerOf(row))
    if (hash !== row.hash) this.#findings.add(seq, 'hash_mismatch')
    this.#payloads.check(row)

    this.#entries++
    this.#next = seq + 1
    this.#prev = row.hash
    this.#prevTrue = hash
    // An invalid time must not make every later entry look late.
    if (this.#findings.count === before) {
      this.#time = row.recorded_at
      this.#kinds.add(row.kind)
    }
    this.#tree?.append(hash)
    if (this.#checkpoints.isDue(seq + 1)) this.#checkpoints.reach(seq + 1, this.#root())
  }

  checkpoint(
    note: string,
    options: { readonly external?: boolean; readonly unwitnessed?: boolean } = {},
  ): void {
    const { external = false, unwitnessed = false } = options
    if (unwitnessed) this.#checkpoints.refuseUnwitnessed(note, this.#next)
    else this.#checkpoints.add(note, { external }, this.#next, () => this.#root())
  }

  malformed(detail: string): void {
    this.#findings.add(this.#next, 'malformed_line', detail)
  }

  finish(end: ChainEnd = {}): ChainReport {
    const { head, vkey, stopped = false, continues = false, incomplete = false } = end
    const size = this.#next
    const open = stopped || incomplete
    const checkpoints = this.#checkpoints
    // A tail that only these cover is not signed by the available checkpoints.
    if (open || continues) checkpoints.leaveBeyond(size)
    if (!open) this.#checkEnd(head, vkey)
    checkpoints.end(size)
    // The explanation of a missing payload may be among unavailable entries.
    const cut = open || continues || this.#findings.hasTruncation
    if (!cut) {
      this.#payloads.end()
      this.#history.end()
    }
    checkpoints.settle((lostSize) => this.#history.lossOf(lostSize))
    const { missing, redacted } = this.#payloads
    const unexplained = cut ? missing.size : 0
    return {
      status: this.#findings.status(incomplete),
      checked: { from_seq: this.#from, to_seq: size - 1, entries: this.#entries },
      head: { seq: size - 1, hash: this.#prev ?? ZERO_HASH },
      root: this.#root().root,
      anchored_by: checkpoints.anchor,
      truncation_checked:
        !open &&
        !continues &&
        !this.#findings.hasTruncation &&
        checkpoints.mismatched === 0 &&
        checkpoints.externalSize === size,
      redacted,
      unexplained,
      pruned: this.#history.pruned,
      recovered: this.#history.recovered,
      ...this.#findings.summary(),
      gaps: this.#gaps,
      checkpoints: { checked: checkpoints.checked, mismatched: checkpoints.mismatched },
      agreed_to: Math.max(this.#from, checkpoints.agreedSize) - 1,
      not_checked: notChecked({
        from: this.#from,
        recorded: this.#history.record,
        recovered: this.#history.recovered,
        size,
        stopped,
        continues,
        incomplete,
        deep: this.#options.deep ?? false,
        pinned: this.#keys.hasPinned,
        redacted,
        unexplained,
        checkpoints,
      }),
    }
  }

  /** Continues after an unexpected number. False: skip this entry. */
  #resume(seq: number): boolean {
    if (!Number.isSafeInteger(seq) || seq < this.#next) {
      this.#findings.add(this.#next, 'out_of_order', `an entry of seq ${seq}`)
      return false
    }
    this.#findings.add(this.#next, 'gap', `up to seq ${seq - 1}`)
    this.#gaps++
    this.#tree = null
    this.#prev = null
    return true
  }

  /**
   * Checks link, time and kind. Hash, link and commitment are compared with computed text, so the
   * full check of the header is needed only for new values.
   */
  #checkLink(row: StoredEntry): void {
    const { seq, prev_hash: prev, recorded_at: time } = row
    const linked = prev === this.#prev || prev === this.#prevTrue
    if (!linked && this.#prev !== null) this.#findings.add(seq, 'broken_link')
    const committed = row.salt !== null && row.payload !== null
    if (linked && committed && time === this.#time && this.#kinds.has(row.kind)) return
    const fault = headerFault(row)
    if (fault !== null) this.#findings.add(seq, 'malformed_header', fault)
    if (time < this.#time) this.#findings.add(seq, 'time_decreased')
  }

  #checkEnd(head: ChainEnd['head'], vkey: string | undefined): void {
    const size = this.#next
    const last = Math.max(0, size - 1)
    if (size === 0) this.#findings.add(0, 'bad_genesis', 'the entry is missing')
    if (head) {
      const frontier = this.#tree && encodeFrontier(this.#tree.frontier())
      if (head.size > size) {
        this.#findings.add(size, 'truncated', `the ledger head has the size ${head.size}`)
      } else if (head.size < size) {
        this.#findings.add(last, 'head_mismatch', `the ledger head has the size ${head.size}`)
      } else if (head.hash !== this.#prev) {
        this.#findings.add(last, 'head_mismatch', 'hash')
      } else if (frontier !== null && head.frontier !== frontier) {
        this.#findings.add(last, 'head_mismatch', 'frontier')
      }
      if (head.checkpoint !== null) {
        const source = { external: false, newest: true }
        this.#checkpoints.add(head.checkpoint, source, size, () => this.#root())
      }
    }
    const current = this.#keys.current
    if (vkey !== undefined && current !== null && current !== vkey) {
      this.#findings.add(last, 'head_mismatch', 'vkey')
    }
    const { covers, given, untrustedSize } = this.#checkpoints
    if ((given || head) && covers < size) {
      this.#findings.add(Math.max(covers, this.#from), 'unsigned_tail')
    }
    if (untrustedSize >= 0) {
      this.#findings.add(last, 'untrusted_key', 'no trusted key signed the newest checkpoint')
    }
  }

  #root(): RootNow {
    if (this.#tree) return { root: this.#tree.root() }
    return { root: null, lost: this.#gaps > 0 }
  }
}

interface Facts {
  readonly from: number
  /** The entry that records why no entries precede `from`. */
  readonly recorded: number | null
  readonly recovered: readonly Recovery[]
  readonly size: number
  readonly stopped: boolean
  readonly continues: boolean
  readonly incomplete: boolean
  readonly deep: boolean
  readonly pinned: boolean
  readonly redacted: number
  /** Missing payloads that a later entry may explain. */
  readonly unexplained: number
  readonly checkpoints: ChainCheckpoints
}

/**
 * Returns the limits of a verification as sentences, so that the result does not promise too much.
 */
function notChecked(facts: Facts): string[] {
  const { from, size, checkpoints, redacted, unexplained } = facts
  const { externalSize, uncompared } = checkpoints
  const list = [
    'The truth and completeness of the recorded data, including times: verification shows only that it was not changed.',
  ]
  const say = (applies: boolean, sentence: string) => {
    if (applies) list.push(sentence)
  }

  if (facts.recorded === null) {
    say(
      from > 0,
      `The entries before seq ${from}: the state at that point was assumed to be correct.`,
    )
  } else {
    list.push(
      `The entries before seq ${from}: they were pruned, as entry ${facts.recorded} records, and are in the export that it names.`,
    )
  }
  for (const { seq, lost } of facts.recovered) {
    list.push(
      `The entries ${lost.from_seq} to ${lost.to_seq} of an earlier history: lost in a restore from a backup, as entry ${seq} records.`,
    )
  }
  say(
    facts.incomplete,
    `Entries after seq ${size - 1}: the source ended there, before its signed end.`,
  )
  say(facts.stopped, `Entries after seq ${size - 1}: they were not requested.`)
  say(facts.continues, `Entries after seq ${size - 1}: the export is a partial export.`)
  say(
    !facts.pinned,
    'The signer: no trusted key was given, and a rewritten ledger would name its own key.',
  )
  const isEnd = !facts.stopped && !facts.incomplete && !facts.continues
  say(isEnd && externalSize < 0, 'Missing entries at the end: no external checkpoint matched.')
  say(
    isEnd && externalSize >= 0,
    `Missing entries after the first ${externalSize}: the newest external checkpoint that matched has that size.`,
  )
  say(
    externalSize < 0,
    'A rollback to an older signed state, or a rewrite by a holder of the signing key: only an external checkpoint can detect it.',
  )
  say(
    externalSize >= 0 && externalSize < size,
    `A rewrite of the entries from seq ${externalSize} on by a holder of the signing key: the newest external checkpoint ends there.`,
  )
  say(
    uncompared.length > 0,
    `The roots of ${uncompared.length} checkpoints: the tree at their size was unknown.`,
  )
  say(
    checkpoints.beyond > 0,
    `The roots of ${checkpoints.beyond} checkpoints beyond seq ${size - 1}: the entries that they cover were not read.`,
  )
  say(
    checkpoints.unsigned > 0,
    `The signatures of ${checkpoints.unsigned} older checkpoints: their roots are those of the entries, and newer checkpoints cover them.`,
  )
  say(redacted > 0, `The content of ${redacted} erased payloads: only their commitments remain.`)
  say(
    unexplained > 0,
    `The reason why ${unexplained} payloads are missing: a later entry may explain it.`,
  )
  say(!facts.deep, 'The structure of the payloads: only their hashes were compared.')
  return list
}

/** The values that genesis must have, as far as the caller knows them. */
interface Identity {
  readonly org_id: string
  readonly ledger_id?: string
}

/**
 * Checks the payloads of one verification: each against its commitment, and those of the ledger's
 * own entries (`ledger.*`) also for their statements about the chain: identity, signing keys,
 * erased payloads, pruned entries.
 */
class ChainPayloads {
  /** Sequence numbers of missing payloads without an explanation so far. */
  readonly missing = new Set<number>()
  redacted = 0
  readonly #identity: Identity
  readonly #deep: boolean
  readonly #keys: ChainKeys
  readonly #checkpoints: ChainCheckpoints
  readonly #history: ChainHistory
  readonly #findings: Findings

  constructor(
    { deep = false, ...identity }: Identity & { readonly deep?: boolean },
    keys: ChainKeys,
    checkpoints: ChainCheckpoints,
    history: ChainHistory,
    findings: Findings,
  ) {
    this.#identity = identity
    this.#deep = deep
    this.#keys = keys
    this.#checkpoints = checkpoints
    this.#history = history
    this.#findings = findings
  }

  check({ seq, kind, salt, payload, commitment }: StoredEntry): void {
    const own = kind.startsWith('ledger.')
    if ((seq === 0) !== (kind === GENESIS_KIND)) this.#findings.add(seq, 'bad_genesis', kind)
    if ((salt === null) !== (payload === null)) {
      // A partial erasure: the remainder has no commitment.
      this.#findings.add(seq, 'commitment_mismatch')
    } else if (salt === null || payload === null) {
      // The ledger's own entries explain all others, so nothing can explain their absence.
      if (own) this.#findings.add(seq, 'payload_missing', `${kind} cannot be erased`)
      else this.missing.add(seq)
    } else if (commitmentOf(salt, payload) !== commitment) {
      this.#findings.add(seq, 'commitment_mismatch')
    } else if (own || this.#deep) {
      const parsed = parsePayload(payload)
      if (parsed === null) this.#findings.add(seq, 'malformed_payload')
      else if (own) this.#heed(seq, kind, parsed.data)
    } else if (!payload.startsWith('{"action":') || !payload.endsWith('}')) {
      this.#findings.add(seq, 'malformed_payload')
    }
  }

  /** Reports those without an explanation at the end of the chain. */
  end(): void {
    for (const seq of this.missing) this.#findings.add(seq, 'payload_missing')
  }

  #heed(seq: number, kind: string, data: EntryPayload['data']): void {
    if (kind === GENESIS_KIND && seq === 0) {
      this.#genesis(data)
    } else if (kind === 'ledger.key_rotated') {
      const rotated = this.#keys.rotate(seq, data['old_vkey'], data['new_vkey'])
      if (!rotated) this.#findings.add(seq, 'bad_rotation')
    } else if (kind === 'ledger.erased' && Array.isArray(data['seqs'])) {
      for (const erased of data['seqs'] as unknown[]) {
        if (typeof erased === 'number' && this.missing.delete(erased)) this.redacted++
      }
    } else if (kind === 'ledger.pruned') {
      this.#history.prune(seq, data)
    } else if (kind === 'ledger.recovered') {
      this.#history.recover(seq, data)
    }
  }

  #genesis(data: EntryPayload['data']): void {
    const { org_id, ledger_id, origin, vkey } = data
    const wrong = (name: string) => this.#findings.add(0, 'bad_genesis', name)
    if (org_id !== this.#identity.org_id) wrong('org_id')
    const wanted = this.#identity.ledger_id ?? ledger_id
    if (typeof ledger_id !== 'string' || ledger_id !== wanted) wrong('ledger_id')
    if (typeof vkey !== 'string' || !this.#keys.declare(vkey)) wrong('vkey')
    if (typeof origin !== 'string') wrong('origin')
    else if ((this.#checkpoints.origin ??= origin) !== origin) wrong('origin')
  }
}
