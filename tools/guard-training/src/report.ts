import { isDocument } from './rows.ts'
import type { Row } from './rows.ts'
import { cutsFrom, exceeds } from './scores.ts'
import type { Scored } from './scores.ts'

/** A guard with its scores of all texts, in the same order as every other's. */
export interface Contestant {
  readonly name: string
  readonly scored: readonly Scored[]
}

/** Shares of harmless texts of the development corpus at which all are compared. */
const LEVELS = { block: 0.01, flag: 0.03, strict: 0.06 }

/**
 * Shares of attacks found, and of harmless texts flagged, by source, as lines of a table. Each guard
 * is cut so that it flags the same share of the harmless development texts.
 */
export function compare(contestants: readonly Contestant[], dev: ReadonlySet<Row>): string {
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
