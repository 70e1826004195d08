import { cellText } from './cell.ts'
import type { Cell } from './cell.ts'

/** Names of the columns, and rows of as many cells. */
export interface Table {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Cell[])[]
}

/** RFC 4180: one rectangular table with its header, CRLF after each line, UTF-8 without a mark. */
export const csvText = ({ columns, rows }: Table): string =>
  [columns, ...rows].map((row) => `${row.map(cellText).join(',')}\r\n`).join('')
