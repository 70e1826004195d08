import { readText } from './files.ts'

/** The signed note of a file: the note itself, or what `ledger watch` or `--json` wrote around it. */
export function readCheckpoint(path: string): string {
  const text = readText(path)
  if (!text.startsWith('{')) return text
  try {
    const { note } = JSON.parse(text) as { note?: unknown }
    return typeof note === 'string' ? note : text
  } catch {
    return text
  }
}
