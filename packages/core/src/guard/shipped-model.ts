import { hash } from 'node:crypto'
import { Model } from './model/model.ts'
import { readWeights } from './model/weights.ts'
import { signatureDigest } from './signatures.ts'

/** The weights of the package; the path is the same from source and from the build. */
export const WEIGHTS = new URL('../../weights/guard.bin', import.meta.url)

interface Shipped {
  readonly model: Model
  /** The version of rules and weights: a different digest can give different results. */
  readonly identity: {
    readonly id: string
    readonly version: string
    readonly corpus_digest: string
  }
}

let shipped: Shipped | undefined

/** Returns the model with the weights of the package; loaded once, in about 20 ms. */
export function shippedModel(): Shipped {
  if (!shipped) {
    const weights = readWeights(WEIGHTS)
    const corpus_digest = hash('sha256', `${weights.digest}\n${signatureDigest}`, 'hex')
    const identity = { id: 'remit-guard', version: weights.header.version, corpus_digest }
    shipped = { model: new Model(weights), identity }
  }
  return shipped
}
