import { commitmentOf, GENESIS_KIND, parsePayload } from '../format/entry.ts'
import type { EntryPayload, StoredEntry } from '../format/entry.ts'
import type { ChainCheckpoints } from './checkpoints.ts'
import type { ChainHistory } from './history.ts'
import type { ChainKeys } from './keys.ts'
import type { Findings } from './report.ts'

/** The values that genesis must have, as far as the caller knows them. */
export interface Identity {
  readonly org_id: string
  readonly ledger_id?: string
}

/**
 * Checks the payloads of one verification: each against its commitment, and those of the ledger's
 * own entries (`ledger.*`) also for their statements about the chain: identity, signing keys,
 * erased payloads, pruned entries.
 */
export class ChainPayloads {
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
