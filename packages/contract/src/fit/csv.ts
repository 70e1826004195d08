import { UNSEEN } from './characters.ts'

/** The value of a cell: a computed number or boolean, any text, or nothing. */
export type CsvCell = number | boolean | string | null

// Characters that start a formula in spreadsheets, with their wide, small and similar forms.
const STARTERS = '=+-@\u2212\uFE62\uFE63\uFE66\uFE6B\uFF0B\uFF0D\uFF1D\uFF20'
const FIRST_STARTERS = `${STARTERS}|%\uFF05\uFF5C`
// Characters that some spreadsheets take for the start of a new cell.
const SEPARATORS = ';\t\r\n'
const QUOTES = `"'`
// Spreadsheets skip NUL, and other control characters hide text; TAB, CR and LF remain.
const CONTROLS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g
/**
 * Invisible characters before a formula: blanks, zero-width and bidirectional marks, fillers,
 * replaced control characters.
 */
const BLANK = new RegExp(`^(?:[ \\uFFFD]|${UNSEEN.source})$`, 'v')

/**
 * A cell of RFC 4180. Computed values are bare. Text is always quoted and cannot be a formula
 * (OWASP, CSV injection): an apostrophe precedes each possible start of a formula, at the beginning
 * and wherever a split at semicolons, tabs or line ends would start a cell.
 */
export function cellText(cell: CsvCell): string {
  if (cell === null) return ''
  return typeof cell === 'string'
    ? `"${withoutFormulas(cell).replaceAll('"', '""')}"`
    : String(cell)
}

/** Returns the text in a form that spreadsheets display and never execute. */
export function withoutFormulas(given: string): string {
  const text = given.toWellFormed().replace(CONTROLS, '\uFFFD')
  // True until a visible character of the text, or of the part after a separator.
  let isFirst = true
  let isAfterSeparator = false
  let isFormula = /^[\t\r\n]/.test(text)
  let written = ''
  for (const character of text) {
    if (
      (isFirst && FIRST_STARTERS.includes(character)) ||
      (isAfterSeparator && STARTERS.includes(character))
    ) {
      isFormula ||= isFirst
      if (isAfterSeparator) written += "'"
      isFirst = isAfterSeparator = false
    } else if (SEPARATORS.includes(character)) {
      isAfterSeparator = true
      isFirst &&= character !== ';'
    } else if (!BLANK.test(character) && !QUOTES.includes(character)) {
      isFirst = isAfterSeparator = false
    }
    written += character
  }
  return isFormula ? `'${written}` : written
}
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
