import { z } from 'zod'
import { Unscorable, defineScorer } from '../scorer.ts'
import type { FieldName } from '../scorer.ts'

const Params = z.strictObject({
  min: z
    .number()
    .min(-1)
    .lt(1)
    .default(0)
    .describe('Cosine that scores 0; cosines from there to 1 scale linearly to 0 to 1'),
})

/** The cosine of two given vectors. */
export const embeddingSimilarity = defineScorer({
  name: 'embedding_similarity',
  version: '1',
  description: 'Cosine similarity of output_embedding and expected_embedding',
  edition: 'community',
  defaultThreshold: 0.5,
  params: Params,
  fields: { output_embedding: 'required', expected_embedding: 'required' },
  inlineLength: 65_536,
  score: ({ output_embedding, expected_embedding }, { min }) => {
    const a = direction(output_embedding ?? [], 'output_embedding')
    const b = direction(expected_embedding ?? [], 'expected_embedding')
    if (a.length !== b.length)
      throw invalidVector('the vectors have different lengths', 'expected_embedding')
    let cosine = 0
    for (let at = 0; at < a.length; at++) cosine += (a[at] ?? 0) * (b[at] ?? 0)
    return {
      score: Math.min(1, Math.max(0, (cosine - min) / (1 - min))),
      reason: 'similarity',
      graded: true,
      metadata: { cosine: Math.min(1, Math.max(-1, cosine)) },
    }
  },
})

/**
 * Normalizes a vector to length 1. Scaled by its largest component first, whose square could
 * overflow or underflow.
 */
function direction(vector: readonly number[], field: FieldName): Float64Array {
  let largest = 0
  for (const part of vector) largest = Math.max(largest, Math.abs(part))
  if (!(largest > 0 && largest < Number.POSITIVE_INFINITY))
    throw invalidVector(`${field} is a zero vector`, field)
  const scaled = Float64Array.from(vector, (part) => part / largest)
  let square = 0
  for (const part of scaled) square += part * part
  const length = Math.sqrt(square)
  return scaled.map((part) => part / length)
}

const invalidVector = (reason: string, field: FieldName): Unscorable =>
  new Unscorable('invalid_embedding', reason, field)
