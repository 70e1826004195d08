import { parseJson } from '@remit/contract/fit'
import { keptText } from '../api/storage.ts'

/** The state that this browser keeps about one ledger: the pinned key, and the newest checkpoint it verified. */
export interface Memory {
  readonly vkey: string | null
  readonly note: string | null
  readonly seenAt: string | null
}

const NOTHING: Memory = { vkey: null, note: null, seenAt: null }
const memoryOf = (origin: string) => keptText(`remit.console.ledger.${origin}`)

export const recall = (origin: string): Memory => ({
  ...NOTHING,
  ...(parseJson(memoryOf(origin).read() ?? '') as Partial<Memory> | undefined),
})

/** A browser without storage pins nothing; the page says "first sight" each time. */
export const remember = (origin: string, change: Partial<Memory>): void =>
  memoryOf(origin).write(JSON.stringify({ ...recall(origin), ...change }))
