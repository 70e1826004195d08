import { createPrivateKey } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { readFileSync } from 'node:fs'

/** One published export with its verdict: docs/ledger-format.md section 13. */
export interface ExportVector {
  readonly name: string
  readonly lines: readonly string[]
  readonly vkey: string | null
  readonly checkpoints: readonly string[]
  readonly status: string
  readonly anchored_by: string
  readonly first_invalid: { readonly seq: number; readonly code: string } | null
}

interface VectorKey {
  readonly name: string
  readonly seed_hex: string
  readonly vkey: string
}

const read = (name: string): unknown =>
  JSON.parse(
    readFileSync(new URL(`../../../../docs/ledger-vectors/${name}`, import.meta.url), 'utf8'),
  )

export const vectors = read('exports.json') as readonly ExportVector[]
const keys = read('keys.json') as readonly VectorKey[]

/** The export that nobody changed, with its key and nothing else. */
export const sound: ExportVector = vectors.find(({ name }) => name === 'sound')!

/** One of the published test keys. */
export function testKey(name: string): { readonly vkey: string; readonly privateKey: KeyObject } {
  const { seed_hex, vkey } = keys.find((key) => key.name === name)!
  // RFC 8410: an Ed25519 private key in PKCS #8 is this prefix and the 32-byte seed.
  const der = Buffer.from(`302e020100300506032b657004220420${seed_hex}`, 'hex')
  return { vkey, privateKey: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }) }
}
