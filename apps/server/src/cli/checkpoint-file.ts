import { parseJson } from '@remit/contract/json'
import { parseExternalCheckpoint } from '@remit/core/ledger/proofs'
import type { ExternalCheckpoint } from '@remit/core/ledger/proofs'
import { CliError } from './errors.ts'
import { readText } from './files.ts'

export interface CheckpointFile extends ExternalCheckpoint {
  readonly path: string
}

/**
 * Reads the checkpoint of a file: the note itself, or the JSON of `ledger watch` or `--json` around
 * it. Throws `CliError` if there is none.
 */
export function readCheckpointFile(path: string): CheckpointFile {
  const given = parseExternalCheckpoint(noteIn(readText(path)))
  if (given === null)
    throw new CliError(`${path} is not a signed checkpoint from \`remit ledger checkpoint\``)
  return { ...given, path }
}

/**
 * Rejects checkpoints of another ledger than that of `origin`. Skipped if no entry records it: the
 * verification reports that.
 */
export function requireOrigin(files: readonly CheckpointFile[], origin: string | null): void {
  if (origin === null) return
  const other = files.find((file) => file.origin !== origin)
  if (other) throw new CliError(`${other.path} has the origin ${other.origin} instead of ${origin}`)
}

function noteIn(text: string): string {
  if (!text.startsWith('{')) return text
  const { note } = (parseJson(text) ?? {}) as { note?: unknown }
  return typeof note === 'string' ? note : text
}
