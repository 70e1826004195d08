import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { z } from 'zod'

const State = z.object({
  /** The pinned key; its name is the log's origin. */
  vkey: z.string(),
  size: z.int().min(1),
  root: z.string().regex(/^[0-9a-f]{64}$/),
  /** The signed checkpoint itself: evidence against the log, and input for `ledger verify`. */
  note: z.string(),
  /** When it was last confirmed, RFC 3339. */
  checked_at: z.string(),
})

/** What a watcher remembers of a log between two looks at it. */
export type WatchState = z.infer<typeof State>

/** A state file that exists and cannot be used. */
export class WatchStateError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'WatchStateError'
  }
}

/** The state of a file, or null before the first look. Throws `WatchStateError`. */
export function readState(path: string): WatchState | null {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return null
    throw new WatchStateError(`${path} cannot be read: ${(error as Error).message}`)
  }
  const state = State.safeParse(parse(text))
  // Starting over would forgive whatever the log did meanwhile.
  if (!state.success)
    throw new WatchStateError(`${path} is not a state file of \`remit ledger watch\``)
  return state.data
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Replaces the file in one step: a crash leaves the old state or the new one. */
export function writeState(path: string, state: WatchState): void {
  mkdirSync(dirname(path), { recursive: true })
  const next = `${path}.next`
  writeFileSync(next, `${JSON.stringify(state, null, 2)}\n`, { flush: true })
  renameSync(next, path)
}
