import { readFileSync, writeFileSync } from 'node:fs'
import { foldLexicon } from '@remit/core/guard/internals'
import type { Weights } from '@remit/core/guard/internals'
import { expandAll } from './grammar.ts'
import { train } from './train.ts'

/** The folder of the grammars and of the concepts. */
export const GRAMMARS = new URL('../grammars/', import.meta.url)

/** The folder of everyday requests that nothing is learned from. */
export const HELD_OUT = new URL('../held-out/', import.meta.url)

/** The concepts as the model reads them. */
export const readConcepts = (): string =>
  foldLexicon(readFileSync(new URL('concepts.txt', GRAMMARS), 'utf8'))

const RECORDED = new URL('../grammars.digest', import.meta.url)
const SEED = 1

/** The result of training on the grammars alone; the same everywhere, to the last bit. */
export function trainOnGrammars(): Omit<Weights, 'digest' | 'header'> {
  const concepts = readConcepts()
  const { rows } = expandAll(GRAMMARS, SEED)
  const { direct, embedded, vocabulary, classes } = train(rows, concepts, SEED)
  return { direct: direct.bytes, embedded: embedded.bytes, concepts, vocabulary, classes }
}

/** The recorded digest of that; first records the given one, if told to. */
export function checkDigest(digest: string, record: boolean): string {
  if (record) writeFileSync(RECORDED, `${digest}\n`)
  return readFileSync(RECORDED, 'utf8').trim()
}
