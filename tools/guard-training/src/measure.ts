/**
 * `pnpm --filter @remit/guard-training measure`: what the shipped guard, signatures and model together,
 * does with the development corpora: by kind and length, in long documents, with padding, with typos,
 * by language. `--corpora <folder>` has `dev.jsonl.gz` and `v2/dev.jsonl.gz`.
 */
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Lexicon, readWeights, WEIGHTS } from '@remit/core/guard/internals'
import { HELD_OUT } from './digest.ts'
import { mistyped, needles, padded } from './disguises.ts'
import { expandAll } from './grammar.ts'
import { isDocument, readCorpus } from './rows.ts'
import type { Row } from './rows.ts'
import { hasLength, judge, kindOf, lengthName, LENGTHS, rates } from './verdicts.ts'
import type { Judged, LEVELS } from './verdicts.ts'

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
