import { csvText } from '@remit/contract/fit'
import type { CsvCell } from '@remit/contract/fit'
import { spellOut } from './literal.ts'

/** A column of a CSV file; text is written with invisible characters spelled out. */
export interface CsvColumn<T> {
  readonly name: string
  readonly cell: (row: T) => CsvCell | undefined
}

const readable = (cell: CsvCell | undefined): CsvCell =>
  typeof cell === 'string' ? spellOut(cell) : (cell ?? null)

/** Rows as RFC 4180 text, which a spreadsheet shows and never runs. */
export const csvOf = <T>(columns: readonly CsvColumn<T>[], rows: readonly T[]): string =>
  csvText({
    columns: columns.map(({ name }) => name),
    rows: rows.map((row) => columns.map(({ cell }) => readable(cell(row)))),
  })

/** Rows of all pages of a list, up to a number that a spreadsheet can show. */
export async function everyPage<T>(
  read: (cursor: string | undefined) => Promise<{ data: T[]; next_cursor: string | null }>,
  most = 100_000,
): Promise<T[]> {
  const rows: T[] = []
  let cursor: string | undefined
  do {
    const page = await read(cursor)
    rows.push(...page.data)
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined && rows.length < most)
  return rows
}

/** Saves a text as a file of the person; spreadsheets need the byte order mark to read UTF-8. */
export function saveCsv(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([`\uFEFF${text}`], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = url
  link.download = `${name}.csv`
  link.click()
  URL.revokeObjectURL(url)
}
