/** The cells of a table's rows, header and rule left out where they are asked for by position. */
export const rowsOf = (markdown: string): string[][] =>
  markdown
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^\|[\s:|-]+\|$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )

/** The first cells of all rows, without the marks of code. */
export const firstCells = (markdown: string): string[] =>
  rowsOf(markdown).map(([cell = '']) => cell.replaceAll('`', ''))
