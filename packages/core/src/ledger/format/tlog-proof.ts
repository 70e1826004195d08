import {
  decodeBase64,
  hashFromBase64,
  hexToBase64,
  parseDecimal,
  NoteError,
  CheckpointError,
  openCheckpoint,
} from './note.ts'
import type { NoteVerifier } from './note.ts'
import { verifyInclusion } from './proof.ts'

const FIRST_LINE = 'c2sp.org/tlog-proof@v1'

/** The data to verify offline that an entry is in the log (C2SP tlog-proof). */
export interface TlogProof {
  readonly index: number
  /** Audit path in hex, the sibling of the leaf first. */
  readonly proof: readonly string[]
  /** The signed checkpoint, verbatim. */
  readonly checkpoint: string
  /** Opaque bytes. No signature covers them: do not trust them. */
  readonly extra?: Uint8Array
}

export class TlogProofError extends Error {
  override readonly name = 'TlogProofError'
}

/** Formats a proof for a `.tlog-proof` file. */
export function formatTlogProof({ index, proof, checkpoint, extra }: TlogProof): string {
  const extraLine = extra ? `extra ${Buffer.from(extra).toString('base64')}\n` : ''
  const path = proof.map((hash) => `${hexToBase64(hash)}\n`).join('')
  return `${FIRST_LINE}\n${extraLine}index ${index}\n${path}\n${checkpoint}`
}

/** Parses the text of a proof without verifying it. Throws `TlogProofError`. */
export function parseTlogProof(text: string): TlogProof {
  const end = text.indexOf('\n\n')
  if (end < 0) throw new TlogProofError('The proof has no checkpoint')
  const [first, ...lines] = text.slice(0, end).split('\n')
  if (first !== FIRST_LINE) throw new TlogProofError(`A proof must start with ${FIRST_LINE}`)

  const extraText = lines[0]?.startsWith('extra ') ? lines.shift()?.slice('extra '.length) : null
  const extra = typeof extraText === 'string' ? decodeBase64(extraText) : undefined
  if (extra === null) throw new TlogProofError('The extra data is not base64')
  const indexLine = lines.shift() ?? ''
  const index = indexLine.startsWith('index ') ? parseDecimal(indexLine.slice(6)) : null
  if (index === null) throw new TlogProofError('The proof has no entry index')
  const proof = lines.map((line) => {
    const hash = hashFromBase64(line)
    if (hash === null) throw new TlogProofError('A line of the proof is not a hash in base64')
    return hash
  })
  const checkpoint = text.slice(end + 2)
  return extra ? { index, proof, checkpoint, extra } : { index, proof, checkpoint }
}

export type TlogProofVerdict =
  | {
      readonly ok: true
      readonly index: number
      readonly size: number
      readonly root: string
      readonly origin: string
    }
  | { readonly ok: false; readonly problem: string }

/**
 * Checks that a proof text shows that the entry with this hash is in a log signed by the pinned
 * key. `leafHash` is the entry's `hash`, computed by the caller from the header. Returns the reason
 * of a failure instead of throwing.
 */
export function verifyTlogProof(claim: {
  readonly text: string
  readonly leafHash: string
  readonly verifier: NoteVerifier
  readonly origin?: string
}): TlogProofVerdict {
  try {
    const { index, proof, checkpoint } = parseTlogProof(claim.text)
    const { size, root, origin } = openCheckpoint(checkpoint, claim.verifier, claim.origin)
    if (!verifyInclusion({ index, size, leafHash: claim.leafHash, proof, root })) {
      return { ok: false, problem: 'The proof does not lead from the entry to the signed root' }
    }
    return { ok: true, index, size, root, origin }
  } catch (error) {
    const expected = [TlogProofError, CheckpointError, NoteError].some(
      (kind) => error instanceof kind,
    )
    if (!expected || !(error instanceof Error)) throw error
    return { ok: false, problem: error.message }
  }
}
