import { parseJson } from '@remit/contract/json'
import { renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder, readWholeFile } from '@remit/core/base'
import { z } from 'zod'
import { fileFault } from '../settings/read-file.ts'

const State = z.object({
  /** The pinned key; its name is the origin of the log. */
  vkey: z.string(),
  size: z.int().min(1),
  root: z.string().regex(/^[0-9a-f]{64}$/),
  /** The signed checkpoint: evidence against the log, and input for `ledger verify`. */
  note: z.string(),
  /** Time of the last confirmation, RFC 3339. */
  checked_at: z.string(),
})

/** State of a watcher between two checks. */
export type WatchState = z.infer<typeof State>

/** An invalid state file. */
export class WatchStateError extends Error {
  override readonly name = 'WatchStateError'
}

/** Reads a state file; null before the first check. Throws `WatchStateError`. */
export function readState(path: string): WatchState | null {
  let text: string
  try {
    text = readWholeFile(path).toString()
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    throw new WatchStateError(`${path} cannot be read: ${fileFault(error)}`)
  }
  const state = State.safeParse(parseJson(text))
  // A fresh start would hide changes of the log.
  if (!state.success)
    throw new WatchStateError(`${path} is not a state file of \`remit ledger watch\``)
  return state.data
}

/**
 * Replaces the file atomically: a crash leaves the old state or the new one. Throws
 * `WatchStateError`.
 */
export function writeState(path: string, state: WatchState): void {
  const next = `${path}.next`
  try {
    makeFolder(dirname(path))
    writeFileSync(next, `${JSON.stringify(state, null, 2)}\n`, { flush: true })
    renameSync(next, path)
  } catch (error) {
    throw new WatchStateError(`${path} cannot be written: ${fileFault(error)}`)
  }
}
