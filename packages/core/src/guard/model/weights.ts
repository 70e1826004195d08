import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { z } from 'zod'

/** Where a head's scores are cut: from `flag` on a text is flagged, from `block` on blocked. */
const Cuts = z.object({ flag: z.number(), block: z.number() })
export type Cuts = z.infer<typeof Cuts>

const Head = z.object({ scale: z.number(), bias: z.number() })

/** What is known of the weights without reading them. */
export const WeightsHeader = z.object({
  version: z.string(),
  seed: z.int(),
  featureBits: z.int(),
  heads: z.object({ direct: Head, embedded: Head }),
  /** Of the direct head on what users say, and of both on documents. */
  cuts: z.object({ user: Cuts, directInDocument: Cuts, embedded: Cuts }),
  /** How often the scores that the cuts turn into shares were right, on the development corpus. */
  calibration: z.array(z.object({ from: z.number(), texts: z.int(), attacks: z.int() })),
  digests: z.object({
    concepts: z.string(),
    signatures: z.string(),
    grammars: z.string(),
    corpora: z.array(z.object({ name: z.string(), sha256: z.string() })),
  }),
  /** Every source of training texts with its licence. */
  sources: z.array(z.object({ name: z.string(), texts: z.int(), licence: z.string() })),
})
export type WeightsHeader = z.infer<typeof WeightsHeader>

/** All that the guard has learned. */
export interface Weights {
  readonly header: WeightsHeader
  /** One byte a feature. */
  readonly direct: Int8Array
  readonly embedded: Int8Array
  /** Lexicon of concepts, as `grammars/concepts.txt` has it. */
  readonly concepts: string
  /** Words that are no cipher and no riddle, one a line. */
  readonly vocabulary: string
  /** SHA-256 of everything but the header, hexadecimal. */
  readonly digest: string
}

const MAGIC = 'REMITGUARD1\n'

/**
 * The file: magic, a line of JSON, and the deflated body, which is both heads, the concepts and the
 * vocabulary. The digest is that of the body before deflation, so that it does not hang on a library.
 */
export function writeWeights(weights: Omit<Weights, 'digest'>): Buffer {
  const { header } = weights
  const body = bodyOf(weights)
  const line = JSON.stringify({
    ...header,
    concepts: Buffer.byteLength(weights.concepts),
    digest: hash('sha256', body, 'hex'),
  })
  return Buffer.concat([Buffer.from(`${MAGIC}${line}\n`), deflateRawSync(body, { level: 9 })])
}

/** The digest that `writeWeights` would put into the file. */
export const digestOf = (weights: Omit<Weights, 'digest' | 'header'>): string =>
  hash('sha256', bodyOf(weights), 'hex')

const bodyOf = (weights: Omit<Weights, 'digest' | 'header'>): Buffer =>
  Buffer.concat([
    Buffer.from(weights.direct.buffer, weights.direct.byteOffset, weights.direct.length),
    Buffer.from(weights.embedded.buffer, weights.embedded.byteOffset, weights.embedded.length),
    Buffer.from(weights.concepts),
    Buffer.from(weights.vocabulary),
  ])

const FileHeader = WeightsHeader.extend({ concepts: z.int(), digest: z.string() })

/** Throws when the file is not what `writeWeights` wrote. */
export function readWeights(path: URL): Weights {
  const file = readFileSync(path)
  const lineEnd = file.indexOf(0x0a, MAGIC.length)
  if (file.toString('latin1', 0, MAGIC.length) !== MAGIC || lineEnd < 0)
    throw new Error('the weights of the guard are not in their format')
  const json: unknown = JSON.parse(file.toString('utf8', MAGIC.length, lineEnd))
  const { concepts: conceptBytes, digest, ...header } = FileHeader.parse(json)
  const body = inflateRawSync(file.subarray(lineEnd + 1))
  if (hash('sha256', body, 'hex') !== digest)
    throw new Error('the weights of the guard do not have the digest that they claim')
  const size = 1 << header.featureBits
  const conceptsEnd = size * 2 + conceptBytes
  return {
    header,
    direct: new Int8Array(body.buffer, body.byteOffset, size),
    embedded: new Int8Array(body.buffer, body.byteOffset + size, size),
    concepts: body.toString('utf8', size * 2, conceptsEnd),
    vocabulary: body.toString('utf8', conceptsEnd),
    digest,
  }
}
