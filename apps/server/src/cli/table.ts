import { printableLine } from './printable.ts'

/** Formats rows as columns of plain text with a header row; the last column is not padded. */
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

/** Formats facts, one per line, with aligned names. */
export function facts(values: Readonly<Record<string, string | number>>): string {
  const width = Math.max(...Object.keys(values).map((name) => name.length))
  return Object.entries(values)
    .map(([name, value]) => `${`${name}:`.padEnd(width + 2)}${printableLine(String(value))}\n`)
    .join('')
}
