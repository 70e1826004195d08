/**
 * `pnpm --filter @remit/guard-training measure`: what the shipped guard, signatures and model together,
 * does with the development corpora: by kind and length, in long documents, with padding, with typos,
 * by language. `--corpora <folder>` has `dev.jsonl.gz` and `v2/dev.jsonl.gz`.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Lexicon, readWeights, WEIGHTS, Tokens } from '@remit/core/guard/internals'
import { HELD_OUT } from './digest.ts'
import { expandAll } from './grammar.ts'
import { isDocument, readCorpus } from './rows.ts'
import type { Row } from './rows.ts'
import { hasLength, judge, kindOf, lengthName, LENGTHS, rates } from './verdicts.ts'
import type { Judged, LEVELS } from './verdicts.ts'
import { pick, randomOf } from './head.ts'

const SHARED = fileURLToPath(new URL('../../../../shared/data/guard', import.meta.url))
const MIN_OF_LANGUAGE = 20
const PADDED = 200
const SEED = 1

const { values } = parseArgs({ options: { corpora: { type: 'string', default: SHARED } } })
const folder = resolve(values.corpora)
const paths = ['dev.jsonl.gz', 'v2/dev.jsonl.gz'].map((name) => join(folder, name))
const say = (text: string) => void process.stdout.write(`${text}\n`)

if (paths.every((path) => existsSync(path))) {
  const [dev = [], long = []] = paths.map((path) =>
    readCorpus(path).rows.filter(({ ctx }) => ctx !== 'system'),
  )
  report(dev, long)
} else say(`skipped: ${folder} has no dev.jsonl.gz and v2/dev.jsonl.gz; name it with --corpora`)

function report(dev: readonly Row[], long: readonly Row[]): void {
  const ofDev = judge(dev)
  const judged = [...ofDev, ...judge(long)]
  const harmless = judged.filter(({ row }) => row.label === 0)
  const attacks = judged.filter(({ row }) => row.label === 1)
  const documents = harmless.filter(({ row }) => isDocument(row.ctx))

  table('Harmless texts by kind', byKind(harmless))
  table('Attacks by kind', byKind(attacks))
  table(
    'Harmless documents and tool results by length',
    LENGTHS.map((_, i) =>
      line(
        lengthName(i),
        documents.filter(({ row }) => hasLength(row, i)),
      ),
    ),
  )
  const ofLong = documents.filter(({ row }) => long.includes(row))
  table('Harmless documents of the second corpus', [
    line('all', ofLong),
    line(
      '6,000 and more',
      ofLong.filter(({ row }) => row.text.length >= 6_000),
    ),
    ...LENGTHS.map((_, i) =>
      line(
        lengthName(i),
        ofLong.filter(({ row }) => hasLength(row, i)),
      ),
    ),
  ])
  const ofEveryDay = judge(expandAll(HELD_OUT, SEED).rows)
  table('Everyday requests, and attacks with the same words', [
    ...byKind(ofEveryDay.filter(({ row }) => row.label === 0)).slice(1),
    line(
      'attacks',
      ofEveryDay.filter(({ row }) => row.label === 1),
    ),
  ])
  const attackRows = attacks.map(({ row }) => row)
  table('Attacks set into documents of 4,000 characters and more', [
    line('all', judge(needles(attackRows, long))),
  ])
  table('Attacks in documents, with harmless text around them', paddings(attackRows, documents))
  const users = attackRows.filter(({ ctx }) => !isDocument(ctx))
  table('Attacks of users with up to three typos', [
    line('as they are', judge(users)),
    line('with typos', judge(mistyped(users, new Lexicon(readWeights(WEIGHTS).concepts)))),
  ])
  for (const [name, those] of [
    ['Harmless', harmless],
    ['Attacks', attacks],
  ] as const) {
    const languages = Map.groupBy(those, ({ row }) => row.lang ?? 'en')
    const frequent = [...languages].filter(([, members]) => members.length >= MIN_OF_LANGUAGE)
    table(
      `${name} by language`,
      frequent
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([lang, members]) => line(lang, members)),
    )
  }
}

function paddings(attacks: readonly Row[], documents: readonly Judged[]): string[] {
  const inDocuments = attacks.filter(({ ctx }) => isDocument(ctx))
  const some = inDocuments.filter((_, i) => i % Math.ceil(inDocuments.length / PADDED) === 0)
  const padding = documents
    .filter(({ score, row }) => score < 0.2 && row.text.length >= 2_500)
    .map(({ row }) => row.text)
    .join('\n')
  return [
    line('none', judge(some)),
    ...[10_000, 50_000].flatMap((length) =>
      Object.entries(padded(some, padding, length)).map(([where, rows]) =>
        line(`${length.toLocaleString('en')} ${where}`, judge(rows)),
      ),
    ),
  ]
}

function byKind(judged: readonly Judged[]): string[] {
  const kinds = [...Map.groupBy(judged, ({ row }) => kindOf(row))]
  return [line('all', judged), ...kinds.map(([kind, members]) => line(kind, members))]
}

function line(name: string, judged: readonly Judged[]): string {
  const levels = ['high', 'balanced', 'low'] as const satisfies (keyof typeof LEVELS)[]
  return [name, judged.length, ...levels.map((level) => rates(judged, level))].join(' | ')
}

function table(title: string, lines: readonly string[]): void {
  say(
    `\n**${title}**\n\n| | texts | \`high\` | \`balanced\` | \`low\` |\n| --- | --- | --- | --- | --- |`,
  )
  for (const one of lines) say(`| ${one} |`)
}

const DISGUISES_SEED = 99
const NEEDLES = 300
const MAX_NEEDLE = 1_500
const MIN_DOCUMENT = 4_000
const MAX_TYPOS = 3
const LETTERS = 'abcdefghijklmnopqrstuvwxyz'

/** Attacks of documents, each set at some line of the first nine tenths of a long harmless document. */
function needles(attacks: readonly Row[], documents: readonly Row[]): Row[] {
  const random = randomOf(DISGUISES_SEED)
  const payloads = attacks.filter(({ ctx, text }) => isDocument(ctx) && text.length < MAX_NEEDLE)
  const long = documents.filter(({ ctx, text }) => isDocument(ctx) && text.length > MIN_DOCUMENT)
  if (payloads.length === 0 || long.length === 0) return []
  return Array.from({ length: NEEDLES }, () => {
    const { text } = pick(long, random)
    const payload = pick(payloads, random)
    const end = text.indexOf('\n', Math.floor(random() * text.length * 0.9))
    const at = end < 0 ? text.length : end
    return { ...payload, text: `${text.slice(0, at)}\n${payload.text}\n${text.slice(at)}` }
  })
}

/** Each attack of a document with so many harmless characters before and as many behind it, or half of them each. */
function padded(attacks: readonly Row[], padding: string, length: number) {
  const around = (before: number, after: number) =>
    attacks.map((row) => ({
      ...row,
      text: [padding.slice(0, before), row.text, padding.slice(before, before + after)]
        .filter((text) => text !== '')
        .join('\n'),
    }))
  return {
    before: around(length, 0),
    after: around(0, length),
    'half on each side': around(length / 2, length / 2),
  }
}

/** Up to three words of 6 to 14 letters that have a concept, each with one letter more, fewer or different. */
function mistyped(rows: readonly Row[], lexicon: Lexicon): Row[] {
  const random = randomOf(DISGUISES_SEED)
  return rows.map((row) => {
    let left = MAX_TYPOS
    const text = row.text.replace(/\b[a-z]{6,14}\b/gi, (word) => {
      if (left === 0 || !hasConcept(word.toLowerCase(), lexicon)) return word
      left--
      const at = Math.floor(random() * 3)
      const letter = LETTERS[Math.floor(random() * LETTERS.length)] ?? 'x'
      const kind = random()
      if (kind < 0.4) return word.slice(0, at) + letter + word.slice(at)
      return word.slice(0, at) + (kind < 0.7 ? '' : letter) + word.slice(at + 1)
    })
    return { ...row, text }
  })
}

function hasConcept(word: string, lexicon: Lexicon): boolean {
  const tokens = new Tokens(1)
  tokens.read(word, 0)
  return lexicon.ofWord(word, 0, word.length, tokens.hashes[0] ?? 0).length > 0
}
