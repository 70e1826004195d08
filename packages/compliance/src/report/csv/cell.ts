/** What a cell can hold: a number or a truth that we computed, a text from anywhere, nothing. */
export type Cell = number | boolean | string | null

// What spreadsheets take for the beginning of a formula, also in its wide, small and look-alike forms.
const STARTERS = '=+-@\u2212\uFE62\uFE63\uFE66\uFE6B\uFF0B\uFF0D\uFF1D\uFF20'
const FIRST_STARTERS = `${STARTERS}|%\uFF05\uFF5C`
// Where a spreadsheet with another idea of separators would begin a new cell.
const SEPARATORS = ';\t\r\n'
const QUOTES = `"'`
// NUL is skipped by spreadsheets, others hide what follows; TAB, CR and LF stay.
const CONTROLS = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g
/** What nobody sees before a formula: blanks, zero-width and bidirectional marks, fillers, what a control became. */
const UNSEEN = /^[\s\p{Cf}\p{Default_Ignorable_Code_Point}\u2800\uFFFD]$/u

/**
 * A cell of RFC 4180. What we compute stands bare. A text is always quoted and can be no formula
 * (OWASP, CSV injection): an apostrophe stands before what could begin one, at its beginning and
 * wherever it would begin a cell if it were split at semicolons, tabs or line ends.
 */
export function cellText(cell: Cell): string {
  if (cell === null) return ''
  return typeof cell === 'string' ? `"${harmless(cell).replaceAll('"', '""')}"` : String(cell)
}

/** The text as a spreadsheet shows it and never runs it. */
export function harmless(given: string): string {
  const text = given.toWellFormed().replace(CONTROLS, '\uFFFD')
  // Nothing was seen yet in the text; nothing since a separator.
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
    } else if (!UNSEEN.test(character) && !QUOTES.includes(character)) {
      isFirst = isAfterSeparator = false
    }
    written += character
  }
  return isFormula ? `'${written}` : written
}
