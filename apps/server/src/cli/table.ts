import { printableLine } from './printable.ts'

/** Rows as columns of plain text, the first row being the header; the last column is not padded. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows.map((row) => row.map(printableLine))]
  const widths = header.map((_, i) =>
    all.reduce((widest, row) => Math.max(widest, (row[i] ?? '').length), 0),
  )
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('')
}

/** Facts a line each, their names aligned. */
export function facts(values: Readonly<Record<string, string | number>>): string {
  const width = Math.max(...Object.keys(values).map((name) => name.length))
  return Object.entries(values)
    .map(([name, value]) => `${`${name}:`.padEnd(width + 2)}${printableLine(String(value))}\n`)
    .join('')
}
