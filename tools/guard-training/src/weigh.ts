/**
 * `pnpm --filter @remit/guard-training weigh <corpus …>`: for each signature in how many attacks and
 * harmless texts of the corpora it fires, the weight that follows, and the weight that it has.
 */
import { findHits, normalize, signatureIndex, signatures } from '@remit/core/guard/internals'
import { readCorpus } from './rows.ts'

const SMALLEST_SHARE = 0.0004
const MAX_WEIGHT = 0.95
const MIN_ATTACKS = 12
const BY_JUDGEMENT = 0.55

const rows = process.argv
  .slice(2)
  .flatMap((path) => readCorpus(path).rows)
  .filter(({ ctx }) => ctx !== 'system')
const counts = new Map(signatures.map(({ id }) => [id, [0, 0] as [number, number]]))
const all: [number, number] = [0, 0]
for (const { text, ctx, label } of rows) {
  all[label]++
  const hits = findHits(normalize(text).view.text, signatureIndex, ctx)
  for (const id of new Set(hits.map(({ signature }) => signature.id))) {
    const count = counts.get(id)
    if (count) count[label]++
  }
}
for (const { id, weight } of signatures) {
  const [harmless, attacks] = counts.get(id) ?? [0, 0]
  const [ofHarmless, ofAttacks] = [harmless / all[0] + SMALLEST_SHARE, attacks / all[1]]
  const share = Math.min(MAX_WEIGHT, ofAttacks / (ofAttacks + ofHarmless))
  const seen = harmless === 0 ? 1 : ofAttacks / (ofAttacks + harmless / all[0])
  const computed = attacks < MIN_ATTACKS ? Math.min(BY_JUDGEMENT, seen) : share
  const columns = [id.padEnd(36), attacks, harmless, computed.toFixed(2), weight.toFixed(2)]
  process.stdout.write(`${columns.join('\t')}\n`)
}
