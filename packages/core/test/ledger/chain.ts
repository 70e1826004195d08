import { createPrivateKey, hash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { signCheckpoint, createNoteSigner } from '../../src/ledger/format/note.ts'
import type { NoteSigner } from '../../src/ledger/format/note.ts'
import {
  commitmentOf,
  ENTRY_FORMAT,
  entryHash,
  headerOf,
  payloadText,
  ZERO_HASH,
} from '../../src/ledger/format/entry.ts'
import type { EntryPayload, StoredEntry } from '../../src/ledger/format/entry.ts'
import {
  formatCheckpointLine,
  formatEntryLine,
  formatHeaderLine,
} from '../../src/ledger/verify/export.ts'
import { MerkleTree, encodeFrontier } from '../../src/ledger/format/merkle.ts'

/** An entry to be, without its place. The payload's other fields are null. */
export interface Draft {
  readonly kind: string
  readonly payload?: Partial<EntryPayload>
  readonly recorded_at?: string
}

export interface TestChain {
  readonly org_id: string
  readonly ledger_id: string
  readonly origin: string
  readonly vkey: string
  readonly rows: readonly StoredEntry[]
  /** The signed checkpoint of each size; index 0 is empty. */
  readonly notes: readonly string[]
  /** Frontier of each size, as text. */
  readonly frontiers: readonly string[]
  readonly head: { size: number; hash: string; frontier: string; checkpoint: string }
}

/** A published Ed25519 key for tests; never one to sign a real ledger with. */
export function testKey(name: string): KeyObject {
  const seed = hash('sha256', `remit ledger test key: ${name}`, 'hex')
  // RFC 8410: an Ed25519 private key in PKCS #8 is this prefix and the 32-byte seed.
  const der = Buffer.from(`302e020100300506032b657004220420${seed}`, 'hex')
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
}

export const testSigner = (origin: string, key = 'one'): NoteSigner =>
  createNoteSigner({ name: origin, privateKey: testKey(key) })

const SYSTEM = { type: 'system', id: 'remit' }

/** A decision as the server records it, varied by `n`. */
export const decision = (n: number): Draft => ({
  kind: 'authorization.decided',
  payload: {
    action: 'payments.transfer',
    actor: { type: 'agent', id: `agt_${n}` },
    agent_id: `agt_${n}`,
    data: { amount_usd: `${n}.50`, vendor: 'Müller & Söhne 😀' },
    decision: n % 3 === 0 ? 'deny' : 'allow',
    reason: n % 3 === 0 ? 'policy_deny' : 'default_allow',
  },
})

export const decisions = (count: number): Draft[] =>
  Array.from({ length: count }, (_, n) => decision(n + 1))

/** The entry that passes signing on from one test key to another. */
export const rotation = (origin: string, from: string, to: string): Draft => ({
  kind: 'ledger.key_rotated',
  payload: {
    data: { old_vkey: testSigner(origin, from).vkey, new_vkey: testSigner(origin, to).vkey },
  },
})

export interface ChainOptions {
  readonly org_id?: string
  readonly ledger_id?: string
  readonly genesis?: Record<string, unknown>
  /** Names of the test keys in the order in which rotations put them in force. */
  readonly keys?: readonly string[]
}

/** A sound chain: genesis and the given entries, each size signed. Same input, same bytes. */
export function buildChain(drafts: readonly Draft[], options: ChainOptions = {}): TestChain {
  const { org_id = 'org_acme', ledger_id = 'led_01', keys = ['one'] } = options
  const origin = `remit.example.com/ledger/${org_id}/${ledger_id}`
  const signers = keys.map((key) => testSigner(origin, key))
  const vkey = signers[0]!.vkey
  const data = { format: ENTRY_FORMAT, ledger_id, org_id, origin, vkey, ...options.genesis }
  const tree = new MerkleTree()
  const rows: StoredEntry[] = []
  const notes = ['']
  const frontiers = ['']
  let rotations = 0
  for (const [seq, draft] of [{ kind: 'ledger.genesis', payload: { data } }, ...drafts].entries()) {
    const row = link(org_id, seq, rows.at(-1), draft)
    rows.push(row)
    tree.append(row.hash)
    const checkpoint = { origin, size: tree.size, root: tree.root() }
    notes.push(signCheckpoint(signers[rotations]!, checkpoint))
    frontiers.push(encodeFrontier(tree.frontier()))
    if (draft.kind === 'ledger.key_rotated') rotations++
  }
  const head = {
    size: rows.length,
    hash: rows.at(-1)!.hash,
    frontier: frontiers.at(-1)!,
    checkpoint: notes.at(-1)!,
  }
  return { org_id, ledger_id, origin, vkey, rows, notes, frontiers, head }
}

function link(
  org_id: string,
  seq: number,
  before: StoredEntry | undefined,
  draft: Draft,
): StoredEntry {
  const payload = payloadText({
    action: null,
    actor: SYSTEM,
    agent_id: null,
    data: {},
    decision: null,
    reason: null,
    resource: null,
    ...draft.payload,
  })
  const recorded_at =
    draft.recorded_at ?? new Date(Date.UTC(2026, 10, 20, 8, 0, 0, seq * 250)).toISOString()
  const salt = hash('sha256', `salt ${seq}`, 'hex').slice(0, 32)
  return seal({
    org_id,
    seq,
    prev_hash: before?.hash ?? ZERO_HASH,
    recorded_at,
    kind: draft.kind,
    commitment: commitmentOf(salt, payload),
    salt,
    payload,
  })
}

/** Gives a row the hash that its header has: what a forger with database access would do. */
export function seal(row: Omit<StoredEntry, 'hash'>): StoredEntry {
  return { ...row, hash: entryHash(headerOf(row)) }
}

/** The export of a chain as lines, each with its newline. */
export function exportOf(
  chain: TestChain,
  rows = chain.rows,
  note = chain.head.checkpoint,
): string[] {
  const { org_id, ledger_id, origin, vkey } = chain
  return [
    formatHeaderLine({ org_id, ledger_id, origin, vkey, from_seq: 0 }),
    ...rows.map(formatEntryLine),
    formatCheckpointLine(note),
  ]
}
