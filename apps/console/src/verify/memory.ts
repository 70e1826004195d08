/** The state that this browser keeps about one ledger: the pinned key, and the newest checkpoint it verified. */
export interface Memory {
  readonly vkey: string | null
  readonly note: string | null
  readonly seenAt: string | null
}

const NOTHING: Memory = { vkey: null, note: null, seenAt: null }
const nameOf = (origin: string): string => `remit.console.ledger.${origin}`

export function recall(origin: string): Memory {
  try {
    const kept = localStorage.getItem(nameOf(origin))
    return kept === null ? NOTHING : { ...NOTHING, ...(JSON.parse(kept) as Partial<Memory>) }
  } catch {
    return NOTHING
  }
}

export function remember(origin: string, change: Partial<Memory>): void {
  try {
    localStorage.setItem(nameOf(origin), JSON.stringify({ ...recall(origin), ...change }))
  } catch {
    // A browser without storage pins nothing; the page says "first sight" each time.
  }
}
