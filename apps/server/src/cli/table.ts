import { spellOut } from '@remit/contract/fit'
import type { Io } from './files.ts'

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

/**
 * Makes a text safe for a terminal: file names, responses of other servers and data of a database
 * must not move the cursor, reorder adjacent text, or look like other text. Line breaks and tabs are
 * kept.
 */
export const printable = (text: string): string => spellOut(text, { keep: '\n\t' })

/** The same for a single line: also removes line breaks. */
export const printableLine = (text: string): string => spellOut(text)

/** Reports the progress of long work. */
export interface Progress {
  update(done: number): void
  /** Removes the line before the result. */
  end(): void
}

const TERMINAL_MS = 100
const PLAIN_MS = 10_000

/**
 * `label` formats the line, as in `verified … entries`. One updated line on a terminal; otherwise a
 * plain line every ten seconds, so that logs remain short.
 */
export function createProgress(
  stderr: Io['stderr'],
  label: (done: string) => string,
  now: () => number = () => performance.now(),
): Progress {
  const isTerminal = stderr.isTTY === true
  let next = now() + (isTerminal ? TERMINAL_MS : PLAIN_MS)
  let shown = false
  return {
    update(done) {
      if (now() < next) return
      next = now() + (isTerminal ? TERMINAL_MS : PLAIN_MS)
      const text = label(done.toLocaleString('en'))
      stderr.write(isTerminal ? `\r\u001b[K${text}` : `${text}\n`)
      shown = true
    },
    end() {
      if (isTerminal && shown) stderr.write('\r\u001b[K')
    },
  }
}
