/**
 * `pnpm --filter @remit/guard-training evaluate`: what the shipped model finds on the development corpora
 * and on attacks of sources that it never learned from. `--corpora <folder>` (../shared/data/guard
 * beside the repository), `--prototype <folder>` to measure the research prototype in the same run,
 * `--adaptive` for what is left after changes that an attacker would make, `--seed <n>` to train with
 * another seed as well, and `--without <source>` to leave sources that begin so out of training; both can be repeated.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Model, readWeights, WEIGHTS } from '@remit/core/guard/internals'
import { adaptiveReport } from './adaptive.ts'
import { build } from './build.ts'
import { GRAMMARS, readConcepts } from './digest.ts'
import { expandAll } from './grammar.ts'
import { licenceOf } from './licences.ts'
import { scorePrototype } from './prototype.ts'
import { compare } from './report.ts'
import type { Contestant } from './report.ts'
import { isDocument, readCorpus } from './rows.ts'
import type { Row } from './rows.ts'
import { scoreRow } from './scores.ts'

const SHARED = fileURLToPath(new URL('../../../../shared/', import.meta.url))
const { values } = parseArgs({
  options: {
    corpora: { type: 'string', default: join(SHARED, 'data/guard') },
    prototype: { type: 'string' },
    adaptive: { type: 'boolean', default: false },
    without: { type: 'string', multiple: true, default: [] },
    seed: { type: 'string', multiple: true, default: [] },
  },
})
const say = (text: string) => void process.stdout.write(`${text}\n`)
const folder = resolve(values.corpora)
const [trainPath, devPath, ...further] = ['train', 'dev', 'v2/train', 'v2/dev'].map((name) =>
  join(folder, `${name}.jsonl.gz`),
)

if (!trainPath || !devPath || !existsSync(trainPath) || !existsSync(devPath)) {
  say(`skipped: ${folder} has no train.jsonl.gz and dev.jsonl.gz; give the folder with --corpora`)
} else {
  const corpus = readCorpus(trainPath)
  const dev = readCorpus(devPath)
  const [longTrain, longDev] = further.filter((path) => existsSync(path)).map(readCorpus)
  const corpora = longTrain ? [corpus, longTrain] : [corpus]
  // Long documents decide the cuts as well; requests of the second corpus are easier and do not.
  const longDocuments = (longDev?.rows ?? []).filter(({ ctx }) => isDocument(ctx))
  const deciding = [...dev.rows, ...longDocuments].filter(({ ctx }) => ctx !== 'system')
  const isLeftOut = (source: string) => values.without.some((begin) => source.startsWith(begin))
  const unseen = corpus.rows.filter(
    (row) => row.ctx !== 'system' && (licenceOf(row) === null || isLeftOut(row.source)),
  )
  const judged = [...deciding, ...unseen]
  const contestants: Contestant[] = []
  const enter = (name: string, weights: Parameters<typeof modelOf>[0]) => {
    const model = modelOf(weights)
    contestants.push({ name, scored: judged.map((row) => scoreRow(row, model)) })
  }
  enter('shipped', readWeights(WEIGHTS))
  const concepts = readConcepts()
  const trained = (seed: number, isKept: (row: Row) => boolean) => {
    const grammars = expandAll(GRAMMARS, seed)
    const kept = <T extends { readonly rows: readonly Row[] }>(some: T): T => ({
      ...some,
      rows: some.rows.filter(isKept),
    })
    const made = { grammars: kept(grammars), corpora: corpora.map(kept), dev: [], concepts, seed }
    return { ...build(made), digest: '' }
  }
  for (const seed of values.seed.map(Number))
    enter(
      `seed ${seed}`,
      trained(seed, () => true),
    )
  if (values.without.length > 0)
    enter(
      `without ${values.without.join(', ')}`,
      trained(1, ({ source }) => !isLeftOut(source)),
    )
  if (values.prototype !== undefined) {
    const prototype = resolve(values.prototype)
    const enterPrototype = async (name: string, rows: readonly Row[]) =>
      contestants.push({ name, scored: await scorePrototype(prototype, rows, judged) })
    await enterPrototype('prototype', corpus.rows)
    const allowed = corpus.rows.filter((row) => licenceOf(row) !== null)
    await enterPrototype('prototype, on our sources', allowed)
  }
  say(compare(contestants, new Set(deciding)))
  if (values.adaptive) say(`\n${adaptiveReport(dev.rows)}`)
}

/** With every judgement, however low: the cuts are made anew on the development corpus. */
function modelOf(weights: ConstructorParameters<typeof Model>[0]): Model {
  return new Model(weights, -1)
}
