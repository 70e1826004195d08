import { cellText } from './cell.ts'
import type { CsvCell } from './cell.ts'

/** Column names, and rows with one cell per column. */
export interface CsvTable {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly CsvCell[])[]
}

/**
 * RFC 4180: one rectangular table with a header, CRLF after each line, UTF-8 without a byte order
 * mark.
 */
export const csvText = ({ columns, rows }: CsvTable): string =>
  [columns, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('')
