import { hash } from 'node:crypto'
import { Model } from './model/model.ts'
import { readWeights } from './model/weights.ts'
import { signatureDigest } from './signatures.ts'

/** The weights that come with the package, from sources and from what is built alike. */
export const WEIGHTS = new URL('../../weights/guard.bin', import.meta.url)

interface Shipped {
  readonly model: Model
  /** Names the rules and weights that gave an answer: another digest, other answers. */
  readonly identity: {
    readonly id: string
    readonly version: string
    readonly corpus_digest: string
  }
}

let shipped: Shipped | undefined

/** The model with the weights that come with the package; read once, some 20 ms. */
export function shippedModel(): Shipped {
  if (!shipped) {
    const weights = readWeights(WEIGHTS)
    const corpus_digest = hash('sha256', `${weights.digest}\n${signatureDigest}`, 'hex')
    const identity = { id: 'remit-guard', version: weights.header.version, corpus_digest }
    shipped = { model: new Model(weights), identity }
  }
  return shipped
}
