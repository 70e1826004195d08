import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { z } from 'zod'

/** The cuts of a head: texts are flagged from `flag`, and blocked from `block`. */
const Cuts = z.object({ flag: z.number(), block: z.number() })
export type Cuts = z.infer<typeof Cuts>

const HeadScale = z.object({ scale: z.number(), bias: z.number() })

/** Of two linear models: `direct` for every text, `embedded` for orders inside documents. */
export type Head = 'direct' | 'embedded'

export const WeightsHeader = z.object({
  version: z.string(),
  seed: z.int(),
  featureBits: z.int(),
  heads: z.object({ direct: HeadScale, embedded: HeadScale }),
  /** Of the direct head on what users say, and of both on documents. */
  cuts: z.object({ user: Cuts, directInDocument: Cuts, embedded: Cuts }),
  /** Share of attacks per score range on the development corpus. */
  calibration: z.array(z.object({ from: z.number(), texts: z.int(), attacks: z.int() })),
  digests: z.object({
    concepts: z.string(),
    signatures: z.string(),
    grammars: z.string(),
    corpora: z.array(z.object({ name: z.string(), sha256: z.string() })),
  }),
  /** Every source of training texts with its licence. */
  sources: z.array(z.object({ name: z.string(), texts: z.int(), licence: z.string() })),
  /** Notices that the licences of the sources require. */
  notices: z.array(z.string()),
})
export type WeightsHeader = z.infer<typeof WeightsHeader>

/** All trained data of the guard. */
export interface Weights {
  readonly header: WeightsHeader
  /** One byte per feature. */
  readonly direct: Int8Array
  readonly embedded: Int8Array
  /** Lexicon of concepts, from `grammars/concepts.txt`. */
  readonly concepts: string
  /** Known words, one per line, to recognize ciphers and scrambled text. */
  readonly vocabulary: string
  /** Classes of words, as `WordClasses` reads them. */
  readonly classes: string
  /** SHA-256 of everything but the header, hexadecimal. */
  readonly digest: string
}

const MAGIC = 'REMITGUARD2\n'

/**
 * The file: magic, a line of JSON, and the deflated body, which is both heads, the concepts, the
 * vocabulary and the classes of words. The digest is that of the body before deflation, so that it does not hang on a library.
 */
export function writeWeights(weights: Omit<Weights, 'digest'>): Buffer {
  const { header } = weights
  const body = bodyOf(weights)
  const line = JSON.stringify({
    ...header,
    concepts: Buffer.byteLength(weights.concepts),
    vocabulary: Buffer.byteLength(weights.vocabulary),
    digest: hash('sha256', body, 'hex'),
  })
  return Buffer.concat([Buffer.from(`${MAGIC}${line}\n`), deflateRawSync(body, { level: 9 })])
}

/** Returns the digest that `writeWeights` writes into the file. */
export const digestOf = (weights: Omit<Weights, 'digest' | 'header'>): string =>
  hash('sha256', bodyOf(weights), 'hex')

const bodyOf = (weights: Omit<Weights, 'digest' | 'header'>): Buffer =>
  Buffer.concat([
    Buffer.from(weights.direct.buffer, weights.direct.byteOffset, weights.direct.length),
    Buffer.from(weights.embedded.buffer, weights.embedded.byteOffset, weights.embedded.length),
    Buffer.from(weights.concepts),
    Buffer.from(weights.vocabulary),
    Buffer.from(weights.classes),
  ])

const FileHeader = WeightsHeader.extend({
  concepts: z.int(),
  vocabulary: z.int(),
  digest: z.string(),
})

/** Throws if the file was not written by `writeWeights`. */
export function readWeights(path: URL): Weights {
  const file = readFileSync(path)
  const lineEnd = file.indexOf(0x0a, MAGIC.length)
  if (file.toString('latin1', 0, MAGIC.length) !== MAGIC || lineEnd < 0)
    throw new Error('the weights of the guard are not in their format')
  const json: unknown = JSON.parse(file.toString('utf8', MAGIC.length, lineEnd))
  const {
    concepts: conceptBytes,
    vocabulary: vocabularyBytes,
    digest,
    ...header
  } = FileHeader.parse(json)
  const body = inflateRawSync(file.subarray(lineEnd + 1))
  if (hash('sha256', body, 'hex') !== digest)
    throw new Error('the weights of the guard do not have the digest that they claim')
  const size = 1 << header.featureBits
  const conceptsEnd = size * 2 + conceptBytes
  const vocabularyEnd = conceptsEnd + vocabularyBytes
  return {
    header,
    direct: new Int8Array(body.buffer, body.byteOffset, size),
    embedded: new Int8Array(body.buffer, body.byteOffset + size, size),
    concepts: body.toString('utf8', size * 2, conceptsEnd),
    vocabulary: body.toString('utf8', conceptsEnd, vocabularyEnd),
    classes: body.toString('utf8', vocabularyEnd),
    digest,
  }
}
