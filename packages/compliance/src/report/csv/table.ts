import { cellText } from './cell.ts'
import type { Cell } from './cell.ts'

/** Column names, and rows with one cell per column. */
export interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

/**
 * RFC 4180: one rectangular table with a header, CRLF after each line, UTF-8 without a byte order
 * mark.
 */
export const csvText = ({ columns, rows }: Table): string =>
  [columns, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('')
