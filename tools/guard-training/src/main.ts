/**
 * `pnpm --filter @remit/guard-training train [corpus …] [--dev corpus …] [--out file] [--seed n]`: trains
 * the guard on the grammars and on corpora, chooses the cuts on a development corpus that is never
 * trained on, and writes the weights. `--check` trains on the grammars alone and compares the digest
 * with the recorded one; `--record` records it.
 */
import { hash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { digestOf, WEIGHTS, writeWeights } from '@remit/core/guard/internals'
import { checkDigest, GRAMMARS, readConcepts, trainOnGrammars } from './digest.ts'
import { expandAll } from './grammar.ts'
import { readCorpus } from './rows.ts'
import { build } from './build.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    dev: { type: 'string', multiple: true, default: [] },
    out: { type: 'string' },
    seed: { type: 'string', default: '1' },
    check: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
  },
})
const say = (text: string) => void process.stdout.write(`${text}\n`)
const seed = Number(values.seed)

if (values.check || values.record) {
  const digest = digestOf(trainOnGrammars())
  const recorded = checkDigest(digest, values.record)
  say(recorded === digest ? `digest ${digest}` : `digest ${digest}, recorded is ${recorded}`)
  process.exitCode = recorded === digest ? 0 : 1
} else {
  const started = performance.now()
  const concepts = readConcepts()
  const grammars = expandAll(GRAMMARS, seed)
  const corpora = positionals.map(readCorpus)
  const dev = values.dev.map(readCorpus)
  const weights = build({ grammars, corpora, dev, concepts, seed })
  const file = writeWeights(weights)
  const out = values.out ?? WEIGHTS
  writeFileSync(out, file)
  const { sources, cuts } = weights.header
  for (const { name, texts, licence } of sources)
    say(`${String(texts).padStart(6)}  ${name}  ${licence}`)
  say(JSON.stringify(cuts))
  say(
    `${file.length} bytes, SHA-256 ${hash('sha256', file, 'hex')}, ${Math.round((performance.now() - started) / 1000)} s`,
  )
}
