import { readGivenCheckpoint } from '@remit/core'
import type { GivenCheckpoint } from '@remit/core'
import { CliError } from './errors.ts'
import { readText } from './files.ts'

/** A signed checkpoint, and the file that it came in. */
export interface CheckpointFile extends GivenCheckpoint {
  readonly path: string
}

/**
 * The checkpoint of a file: the note itself, or what `ledger watch` or `--json` wrote around it. Throws
 * `CliError` for a file that holds none.
 */
export function readCheckpointFile(path: string): CheckpointFile {
  const given = readGivenCheckpoint(noteIn(readText(path)))
  if (given === null)
    throw new CliError(`${path} is not a signed checkpoint from \`remit ledger checkpoint\``)
  return { ...given, path }
}

/**
 * Refuses those of another ledger than the one of `origin`: they say nothing about it. Without a ledger
 * there is none, which the verification says.
 */
export function requireOrigin(files: readonly CheckpointFile[], origin: string | null): void {
  if (origin === null) return
  const other = files.find((file) => file.origin !== origin)
  if (other) throw new CliError(`${other.path} has the origin ${other.origin} instead of ${origin}`)
}

function noteIn(text: string): string {
  if (!text.startsWith('{')) return text
  try {
    const { note } = JSON.parse(text) as { note?: unknown }
    return typeof note === 'string' ? note : text
  } catch {
    return text
  }
}
