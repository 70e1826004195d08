import { hash } from 'node:crypto'
import { FEATURE_BITS, Model, shareOf, signatureDigest } from '@remit/core/guard/internals'
import type { Weights, WeightsHeader } from '@remit/core/guard/internals'
import { licenceOf } from './licences.ts'
import { isDocument } from './rows.ts'
import type { Corpus, Row } from './rows.ts'
import { cutsFrom, scoreRow } from './scores.ts'
import type { AllCuts, Scored } from './scores.ts'
import { train } from './train.ts'

export interface Ingredients {
  readonly grammars: { readonly rows: readonly Row[]; readonly digest: string }
  readonly corpora: readonly Corpus[]
  /**
   * Decide the cuts, and nothing else: all of them those for documents, the first alone those for users,
   * because the requests of the others are easier.
   */
  readonly dev: readonly Corpus[]
  readonly concepts: string
  readonly seed: number
}

const VERSION = '2'
const NOTICES = [
  'Classes of words: WordNet 3.1, Copyright 2011 by Princeton University. All rights reserved. The licence is in NOTICE.md beside this file.',
]
/** Without a development corpus nobody knows where to cut; these are as good as any. */
const NO_CUTS: AllCuts = {
  user: { flag: 0, block: 1 },
  directInDocument: { flag: 0, block: 1 },
  embedded: { flag: 0, block: 1 },
}
const CALIBRATION_BINS = 10

/** Trains, chooses the cuts, and describes what came of it. Uses only rows whose licence allows it. */
export function build(ingredients: Ingredients): Omit<Weights, 'digest'> {
  const { grammars, corpora, dev, concepts, seed } = ingredients
  const rows = [...grammars.rows, ...corpora.flatMap((corpus) => corpus.rows)].filter(
    (row) => licenceOf(row) !== null,
  )
  const { direct, embedded, vocabulary, classes } = train(rows, concepts, seed)
  const header = (cuts: AllCuts, calibration: WeightsHeader['calibration']): WeightsHeader => ({
    version: VERSION,
    seed,
    featureBits: FEATURE_BITS,
    heads: {
      direct: { scale: direct.scale, bias: direct.bias },
      embedded: { scale: embedded.scale, bias: embedded.bias },
    },
    cuts,
    calibration,
    digests: {
      concepts: hash('sha256', concepts, 'hex'),
      signatures: signatureDigest,
      grammars: grammars.digest,
      corpora: corpora.map(({ name, sha256 }) => ({ name, sha256 })),
    },
    sources: sourcesOf(rows),
    notices: NOTICES,
  })
  const body = { direct: direct.bytes, embedded: embedded.bytes, concepts, vocabulary, classes }
  const uncut = { header: header(NO_CUTS, []), ...body }
  const [first] = dev
  if (!first) return uncut
  const judge = new Model({ ...uncut, digest: '' }, -1)
  const decisive = dev.flatMap(({ rows: all }) =>
    all === first.rows ? all : all.filter(isOfDocument),
  )
  const scored = decisive.map((row) => scoreRow(row, judge))
  const cuts = cutsFrom(scored)
  return { header: header(cuts, calibrationOf(scored, cuts)), ...body }
}

const isOfDocument = ({ ctx }: Row): boolean => isDocument(ctx)

function sourcesOf(rows: readonly Row[]): WeightsHeader['sources'] {
  // Repositories whose documentation is read are many and alike.
  const bySource = Map.groupBy(rows, ({ source }) => source.replace(/^docs:.*/, 'docs'))
  return Array.from(bySource, ([name, members]) => ({
    name,
    texts: members.length,
    licence: members[0] ? (licenceOf(members[0]) ?? '') : '',
  })).toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** The share of attacks among the texts with about that score. */
function calibrationOf(scored: readonly Scored[], cuts: AllCuts): WeightsHeader['calibration'] {
  const bins = Array.from({ length: CALIBRATION_BINS }, (_, i) => ({
    from: i / CALIBRATION_BINS,
    texts: 0,
    attacks: 0,
  }))
  for (const { row, direct, embedded } of scored) {
    if (row.ctx === 'system') continue
    const score = isDocument(row.ctx)
      ? Math.max(shareOf(direct, cuts.directInDocument), shareOf(embedded, cuts.embedded))
      : shareOf(direct, cuts.user)
    const bin = bins[Math.min(CALIBRATION_BINS - 1, Math.floor(score * CALIBRATION_BINS))]
    if (!bin) continue
    bin.texts++
    bin.attacks += row.label
  }
  return bins
}
