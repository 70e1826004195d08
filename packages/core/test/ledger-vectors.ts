import { mkdirSync, writeFileSync } from 'node:fs'
import { createPublicKey } from 'node:crypto'
import { headerOf } from '../src/ledger/format/entry.ts'
import type { StoredEntry } from '../src/ledger/format/entry.ts'
import {
  consistencyProof,
  frontierAt,
  inclusionProof,
  treeRoot,
} from '../src/ledger/format/proof.ts'
import { formatTlogProof } from '../src/ledger/format/tlog-proof.ts'
import { buildChain, decision, rotation, testKey, testSigner } from './ledger/chain.ts'
import type { Draft, TestChain } from './ledger/chain.ts'
import { exportVectors } from './ledger/export-vectors.ts'
import { memoryLog } from './ledger/memory-tiles.ts'

/** The folder of the published vectors. */
export const VECTORS = new URL('../../../docs/ledger-vectors/', import.meta.url)

const DRAFTS: readonly Draft[] = [
  decision(1),
  { ...decision(2), recorded_at: '2026-11-20T08:00:00.250Z' },
  {
    kind: 'entry.appended',
    payload: {
      action: 'Überweisung.prüfen',
      actor: { type: 'key', id: 'key_01' },
      // Names whose order differs between UTF-16 code units and code points, numbers whose
      // spelling is prescribed, characters that JSON must escape and some that it must not.
      data: { '\ufb33': 1, '😀': 1e30, a: [4.5, 0.002, -0, 1e21, 1e-7], '': '\u0007"\\/\u2028' },
      resource: 'konto:東京',
    },
  },
  decision(4),
  { kind: 'ledger.erased', payload: { data: { seqs: [2], basis: 'GDPR Art. 17' } } },
  decision(6),
]

/** The chain of the vectors, with the payload of entry 2 erased by entry 5. */
export function vectorChain(): TestChain {
  return buildChain(DRAFTS)
}

/** The same kind of chain with a change of the signing key in the middle. */
export function rotatedChain(): TestChain {
  const { origin } = vectorChain()
  const drafts = [decision(1), rotation(origin, 'one', 'two'), decision(3), decision(4)]
  return buildChain(drafts, { keys: ['one', 'two'] })
}

/** All files, by name. Pure: the same code gives the same values. */
export async function ledgerVectors(): Promise<Record<string, unknown>> {
  const chain = vectorChain()
  return {
    'keys.json': ['one', 'two', 'forger'].map((name) => keyOf(name, chain.origin)),
    'entries.json': chain.rows.map(entryOf),
    'tree.json': treeOf(chain),
    'proofs.json': await proofsOf(chain),
    'exports.json': exportVectors(chain, rotatedChain()),
  }
}

function keyOf(name: string, origin: string): Record<string, unknown> {
  const key = testKey(name)
  const { d = '' } = key.export({ format: 'jwk' })
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' })
  const signer = testSigner(origin, name)
  return {
    warning: 'Published test key. Never sign a real ledger with it.',
    name,
    seed_hex: Buffer.from(d, 'base64url').toString('hex'),
    public_key_hex: Buffer.from(x, 'base64url').toString('hex'),
    key_name: signer.name,
    key_id_hex: signer.keyHash,
    vkey: signer.vkey,
  }
}

function entryOf(row: StoredEntry): Record<string, unknown> {
  return { ...row, header: headerOf(row) }
}

function treeOf(chain: TestChain): Record<string, unknown>[] {
  return chain.notes.map((note, size) => ({
    size,
    leaf_hash: chain.rows[size - 1]?.hash ?? null,
    frontier: chain.frontiers[size],
    checkpoint: size === 0 ? null : note,
  }))
}

async function proofsOf(chain: TestChain): Promise<Record<string, unknown>> {
  const { readTile } = memoryLog(chain.rows.map(({ hash }) => hash))
  const inclusion = await Promise.all(
    [
      [0, 1],
      [2, 7],
      [6, 7],
    ].map(async ([index = 0, size = 0]) => {
      const proof = await inclusionProof(readTile, index, size)
      const text = formatTlogProof({ index, proof, checkpoint: chain.notes[size] ?? '' })
      return { index, size, leaf_hash: chain.rows[index]?.hash, proof, tlog_proof: text }
    }),
  )
  const consistency = await Promise.all(
    [
      [3, 7],
      [4, 7],
      [6, 7],
    ].map(async ([from = 0, to = 0]) => ({
      from,
      to,
      from_root: await treeRoot(readTile, from),
      to_root: await treeRoot(readTile, to),
      proof: await consistencyProof(readTile, from, to),
    })),
  )
  const { nodes } = await frontierAt(readTile, 7)
  return { inclusion, consistency, frontier_of_7: nodes }
}

if (import.meta.main) {
  mkdirSync(VECTORS, { recursive: true })
  for (const [name, value] of Object.entries(await ledgerVectors())) {
    writeFileSync(new URL(name, VECTORS), `${JSON.stringify(value, null, 2)}\n`)
  }
}
