import { sql } from 'kysely'

/** Bytes of payloads per read: a millisecond or two. */
const PIECE_BYTES = 128 * 1024
const PIECE_ENTRIES = 250

/** The size of a payload as a column. Neither database reads the payload for it. */
export const BYTES = sql<number | null>`octet_length(payload)`.as('bytes')

/** Half-open range of sequence numbers. */
export interface SeqRange {
  readonly from: number
  readonly to: number
}

/** An entry and the bytes of its payload; null if erased. */
export interface Sized {
  readonly seq: number
  readonly bytes: number | null
}

/** Splits entries, in order of their numbers, into ranges that can be read at once. */
export function slicesOf(sized: readonly Sized[]): SeqRange[] {
  const pieces: SeqRange[] = []
  let piece: Sized[] = []
  let bytes = 0
  const close = () => {
    const seqs = piece.map(({ seq }) => seq)
    if (seqs.length > 0) pieces.push({ from: Math.min(...seqs), to: Math.max(...seqs) + 1 })
  }
  for (const one of sized) {
    bytes += one.bytes ?? 0
    if (piece.length > 0 && (bytes > PIECE_BYTES || piece.length >= PIECE_ENTRIES)) {
      close()
      piece = []
      bytes = one.bytes ?? 0
    }
    piece.push(one)
  }
  close()
  return pieces
}
