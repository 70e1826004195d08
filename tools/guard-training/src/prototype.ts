import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bestStretch } from '@remit/core/guard/internals'
import { addUp, randomOf, trainHead } from './head.ts'
import type { Example, TrainedHead } from './head.ts'
import { isDocument, isEmbedded } from './rows.ts'
import type { Row } from './rows.ts'
import type { Scored } from './scores.ts'

/** The used parts of the prototype: its normalizer, views and features, as they are. */
interface Prototype {
  normalize(text: string): { text: string; hidden: { text: string; kind: string }[] }
  decodedViews(text: string, normalized: string, depth?: number): { text: string; kind: string }[]
  repairs(normalized: string): { text: string; kind: string }[]
  featurize(
    text: string,
    ctx: string,
    options: object,
  ): { ids: Uint32Array; ptr: Uint32Array; toks: unknown[] }
}

const OPTIONS = {
  cn: [],
  word: true,
  bi: true,
  tri: false,
  skip: true,
  concept: true,
  bits: 19,
  sig: 2,
}
const SETTINGS = { bits: 19, seed: 1, epochs: 5, rate: 0.5, leftOut: 0 }
const MAX_TEXT = 12_000
const NESTED = new Set(['base64', 'escapes', 'tag_chars', 'hex'])

/**
 * Trains the research prototype on all of the corpus, as it was, and scores texts with it. Its files
 * are read where they are; the loop that trains is ours, which is the same method.
 */
export async function scorePrototype(
  folder: string,
  corpus: readonly Row[],
  judged: readonly Row[],
): Promise<Scored[]> {
  const load = (name: string) => import(pathToFileURL(join(folder, name)).href)
  const prototype = Object.assign({}, await load('norm.mjs'), await load('feat.mjs')) as Prototype
  const make = (text: string, row: Row, maxTokens = 3_000): Example => {
    const { ids, ptr, toks } = prototype.featurize(
      text,
      row.ctx === 'system' ? 'user' : row.ctx,
      OPTIONS,
    )
    return { attack: row.label === 1, ids, ends: ptr, tokens: Math.min(toks.length, maxTokens) }
  }
  const learn = (row: Row) => make(prototype.normalize(row.text.slice(0, 6_000)).text, row, 600)
  const random = randomOf(7)
  const direct = corpus.filter((row) => !isEmbedded(row) && row.ctx !== 'system')
  const embedded = corpus
    .filter(
      (row) =>
        isDocument(row.ctx) ||
        (row.label === 1 &&
          row.source.startsWith('ours-') &&
          row.ctx === 'user' &&
          random() < 0.35),
    )
    .map((row): Row => ({ ...row, ctx: 'document' }))
  const train = (rows: readonly Row[]) =>
    trainHead(
      rows.map(learn).filter(({ tokens }) => tokens > 0),
      SETTINGS,
    )
  const heads = { direct: train(direct), embedded: train(embedded) }
  return judged.map((row) => {
    const views = viewsOf(prototype, row.text.slice(0, MAX_TEXT))
    const examples = views.map(({ text, kind }) => ({ kind, example: make(text, row) }))
    const plain = examples.filter(({ kind }) => kind === 'plain' || kind === 'escapes')
    return {
      row,
      direct: highest(heads.direct, examples),
      embedded: isDocument(row.ctx) ? highest(heads.embedded, plain) : -9,
    }
  })
}

function viewsOf(prototype: Prototype, text: string): { text: string; kind: string }[] {
  const { text: normalized, hidden } = prototype.normalize(text)
  const again = (view: { text: string; kind: string }) => ({
    ...view,
    text: prototype.normalize(view.text).text,
  })
  const decoded = [...hidden, ...prototype.decodedViews(text, normalized)]
  const deeper = decoded
    .filter(({ kind }) => NESTED.has(kind))
    .flatMap((view) => {
      const below = prototype.normalize(view.text)
      return [
        ...[...below.hidden, ...prototype.decodedViews(view.text, below.text, 1)].map(again),
        ...prototype.repairs(below.text),
      ]
    })
  const repaired = prototype.repairs(normalized)
  return [{ text: normalized, kind: 'plain' }, ...decoded.map(again), ...repaired, ...deeper].slice(
    0,
    18,
  )
}

function highest(head: TrainedHead, views: readonly { readonly example: Example }[]): number {
  let best = -9
  for (const { example } of views) {
    if (example.tokens === 0) continue
    const sums = new Float64Array(example.tokens + 1)
    addUp(head.weights, example.ids, example.ends, example.tokens, sums)
    best = Math.max(best, bestStretch(sums, example.ends, example.tokens).score + head.bias)
  }
  return best
}
