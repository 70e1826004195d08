import { readFileSync, writeFileSync } from 'node:fs'
import { ENTRIES, ENTRY_GROUPS } from '@remit/contract/entries'

/** Writes the lists of docs/entry-kinds.md from the catalogue; `--check` compares only. */
const PAGE = new URL('../docs/entry-kinds.md', import.meta.url)
const page = readFileSync(PAGE, 'utf8')

type Row = (typeof ENTRIES)[keyof typeof ENTRIES]

interface Member {
  readonly description?: string
  safeParse(value: unknown): { readonly success: boolean }
}

const membersOf = ({ data }: Row): string =>
  Object.entries<Member>(data.shape)
    .map(([name, schema]) => {
      const mark = schema.safeParse(undefined).success ? '?' : ''
      return `\`${name}${mark}\`${schema.description ? ` (${schema.description})` : ''}`
    })
    .join(', ')

const listOf = (rows: Readonly<Record<string, Row>>): string =>
  Object.entries(rows)
    .map(([kind, row]) => `- \`${kind}\`: ${row.says}\n  - \`data\`: ${membersOf(row)}\n`)
    .join('')

/** The lists are what follows a heading of the catalogue and begins with a kind. */
const lists = Object.entries(ENTRY_GROUPS).reduce((text, [heading, rows]) => {
  const section = new RegExp(`(\n## ${heading}\n(?:(?!## ).*\n)*?)(?:- \`.*\n(?: {2}.*\n)*)+`)
  if (!section.test(text)) throw new Error(`docs/entry-kinds.md has no list under ${heading}`)
  return text.replace(section, (_, above: string) => above + listOf(rows))
}, page)

const events = Object.entries(ENTRIES)
  .filter(([, { carried }]) => carried !== 'state')
  .map(([kind]) => `\`${kind}\``)
const written = lists.replace(
  /(These kinds are not carried over: ).*?(\. Neither)/,
  (_, before: string, after: string) => before + events.toSorted().join(', ') + after,
)

if (!process.argv.includes('--check')) writeFileSync(PAGE, written)
else if (written !== page) {
  process.stderr.write('docs/entry-kinds.md differs from the catalogue: run pnpm entry-kinds\n')
  process.exitCode = 1
}
