/**
 * `pnpm --filter @remit/guard-training evaluate`: what the shipped model finds on the development corpora
 * and on attacks of sources that it never learned from. `--corpora <folder>` (../shared/data/guard
 * beside the repository), `--prototype <folder>` to measure the research prototype in the same run,
 * `--adaptive` for what is left after changes that an attacker would make, `--seed <n>` to train with
 * another seed as well, and `--without <source>` to leave sources that begin so out of training; both can be repeated.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { Model, readWeights, WEIGHTS, checkContent, bestStretch } from '@remit/core/guard/internals'
import { GuardRequest } from '@remit/contract'
import { build } from './build.ts'
import { GRAMMARS, readConcepts } from './digest.ts'
import { expandAll } from './grammar.ts'
import { licenceOf } from './licences.ts'
import { isDocument, readCorpus, isEmbedded } from './rows.ts'
import type { Row } from './rows.ts'
import { scoreRow, cutsFrom, exceeds } from './scores.ts'
import type { Scored } from './scores.ts'
import { addUp, randomOf, trainHead } from './head.ts'
import type { Example, TrainedHead } from './head.ts'

/** Synonyms that reword an attack: the word before `=` is replaced by one of those after it. */
const SYNONYMS = new Map(
  `ignore=leave aside,pay no heed to;disregard=pass over;forget=let go of;previous=former,prior;above=preceding
all=each of,every one of;instructions=directions,briefing;instruction=direction;rules=norms;prompt=preface
system=host;reveal=lay open;show=present;print=type out;repeat=say once more;tell=let know;secret=undisclosed
password=passphrase;access=entry;granted=given;pretend=make believe;act=conduct yourself;answer=respond
write=compose;say=utter;output=produce;send=pass on;delete=get rid of;important=essential;new=fresh;now=at this point
user=person;assistant=helper;model=machine;restrictions=bounds;without=lacking;must=have to;only=solely;text=passage
message=note;information=details;please=kindly;give=hand;explain=lay out;execute=carry out;command=order;task=assignment`
    .split(/[;\n]/)
    .map((entry) => entry.split('=', 2))
    .map(([word = '', others = '']) => [word, others.split(',')] as const),
)
const PADDING_LENGTH = 10_000
const DOUBT = ['By the way, ', 'If it is not too much trouble: ', 'One small thing. ', 'So, well, ']

type Change = (row: Row, index: number) => GuardRequest

const ask = ({ ctx }: Row, content: string): GuardRequest =>
  GuardRequest.parse({ content, source: ctx, checks: ['injection', 'invisible'] })

/** Changes by an attacker who knows that there is a guard, but cannot ask it. */
function changes(padding: string): Readonly<Record<string, Change>> {
  return {
    'as it is': (row) => ask(row, row.text),
    'padded before': (row) => ask(row, `${padding}\n${row.text}`),
    'padded after': (row) => ask(row, `${row.text}\n${padding}`),
    'padded on both sides': (row) => ask(row, `${padding}\n${row.text}\n${padding}`),
    'with synonyms': (row, i) => ask(row, withSynonyms(row.text, i)),
    'in other order, with asides': (row, i) => ask(row, inOtherOrder(row.text, i)),
    'synonyms and other order': (row, i) => ask(row, inOtherOrder(withSynonyms(row.text, i), i)),
    'split over two messages': (row) => split(row),
  }
}

const withSynonyms = (text: string, index: number): string =>
  text.replace(/[A-Za-z]+/g, (word) => {
    const others = SYNONYMS.get(word.toLowerCase())
    return others?.[index % others.length] ?? word
  })

/** Sentences the other way round, and an aside before each. */
const inOtherOrder = (text: string, index: number): string =>
  text
    .split(/(?<=[.!?])\s+/)
    .toReversed()
    .map((sentence, i) => `${DOUBT[(index + i) % DOUBT.length]}${sentence}`)
    .join(' ')

/** Cut in the middle, at a space; each half is a message of its own. */
function split({ text, ctx }: Row): GuardRequest {
  const middle = text.indexOf(' ', text.length / 2)
  const at = middle < 0 ? text.length >> 1 : middle
  const role = isDocument(ctx) ? 'tool' : 'user'
  const messages = [text.slice(0, at), text.slice(at)].map((content) => ({ role, content }))
  return GuardRequest.parse({ messages, source: 'user', checks: ['injection', 'invisible'] })
}

/** Shares of attacks that are flagged and blocked after each change, as lines of a table. */
function adaptiveReport(dev: readonly Row[]): string {
  const attacks = dev.filter(({ label, ctx }) => label === 1 && ctx !== 'system')
  const calm = dev.filter(
    ({ label, ctx, source }) =>
      label === 0 && ctx === 'document' && !source.startsWith('readability-html'),
  )
  const padding = harmless(calm).slice(0, PADDING_LENGTH)
  const lines = ['| change | flagged | blocked |', '| --- | --- | --- |']
  for (const [name, change] of Object.entries(changes(padding))) {
    const answers = attacks.map((row, i) => checkContent(change(row, i)))
    const share = (wanted: (answer: (typeof answers)[number]) => boolean) =>
      `${((100 * answers.filter(wanted).length) / answers.length).toFixed(1)} %`
    lines.push(
      `| ${name} | ${share(({ flagged }) => flagged)} | ${share(({ action }) => action === 'block')} |`,
    )
  }
  return lines.join('\n')
}

/** Documents that the guard finds nothing in, one after the other. */
const harmless = (rows: readonly Row[]): string =>
  rows
    .filter(
      (row) =>
        checkContent(ask(row, row.text)).score < 0.3 &&
        checkContent(ask({ ...row, ctx: 'user' }, row.text)).score < 0.3,
    )
    .map(({ text }) => text)
    .join('\n')

/** A guard with its scores of all texts, in the same order as every other's. */
interface Contestant {
  readonly name: string
  readonly scored: readonly Scored[]
}

/** Shares of harmless texts of the development corpus at which all are compared. */
const LEVELS = { block: 0.01, flag: 0.03, strict: 0.06 }

/**
 * Shares of attacks found, and of harmless texts flagged, by source, as lines of a table. Each guard
 * is cut so that it flags the same share of the harmless development texts.
 */
function compare(contestants: readonly Contestant[], dev: ReadonlySet<Row>): string {
  const lines: string[] = []
  for (const [level, share] of Object.entries(LEVELS)) {
    const verdicts = contestants.map(({ scored }) => {
      const ofDev = scored.filter(({ row }) => dev.has(row))
      const cuts = cutsFrom(ofDev, { flag: share, block: share })
      return scored.map((one) => ({ row: one.row, found: exceeds(one, cuts, 'flag') }))
    })
    const row = (name: string, wanted: (row: Row) => boolean) => {
      const shares = verdicts.map((all) => {
        const those = all.filter((one) => wanted(one.row))
        const found = those.filter((one) => one.found).length
        return those.length === 0 ? '' : `${((100 * found) / those.length).toFixed(1)} %`
      })
      const count = verdicts[0]?.filter((one) => wanted(one.row)).length ?? 0
      lines.push(`| ${[name, String(count), ...shares].join(' | ')} |`)
    }
    lines.push(
      `\n${level} (${share * 100} % of harmless dev texts)\n`,
      `| source | texts | ${contestants.map(({ name }) => name).join(' | ')} |`,
      `| --- | --- | ${contestants.map(() => '---').join(' | ')} |`,
    )
    row('dev, all attacks', (text) => dev.has(text) && text.label === 1)
    for (const [kind, inDocument] of [
      ['of users', false],
      ['in documents', true],
    ] as const) {
      const isOfKind = (text: Row) => text.label === 1 && isDocument(text.ctx) === inDocument
      row(`dev, attacks ${kind}`, (text) => dev.has(text) && isOfKind(text))
      row(`unseen, attacks ${kind}`, (text) => !dev.has(text) && isOfKind(text))
    }
    for (const { label, title, isDev } of SECTIONS) {
      for (const name of sourcesOf(contestants, dev, label, isDev)) {
        row(`${title} ${name}`, (text) => {
          return dev.has(text) === isDev && text.label === label && groupOf(text) === name
        })
      }
    }
  }
  return lines.join('\n')
}

const SECTIONS = [
  { label: 1, title: 'dev attack', isDev: true },
  { label: 0, title: 'dev harmless', isDev: true },
  { label: 1, title: 'unseen attack', isDev: false },
  { label: 0, title: 'unseen harmless', isDev: false },
] as const

const sourcesOf = (
  contestants: readonly Contestant[],
  dev: ReadonlySet<Row>,
  label: 0 | 1,
  isDev: boolean,
): string[] => {
  const rows = contestants[0]?.scored.map(({ row }) => row) ?? []
  const fitting = rows.filter((row) => dev.has(row) === isDev && row.label === label)
  return [...new Set(fitting.map(groupOf))].toSorted()
}

const groupOf = ({ source }: Row): string =>
  source.replace(/^docs:.*/, 'docs').replace(/^PIArena-(?!inj).*/, 'PIArena contexts')

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
async function scorePrototype(
  prototypeFolder: string,
  corpus: readonly Row[],
  judged: readonly Row[],
): Promise<Scored[]> {
  const load = (name: string) => import(pathToFileURL(join(prototypeFolder, name)).href)
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
