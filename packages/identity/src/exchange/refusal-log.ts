/** Refusals of one issuer that get an entry each in a minute; the others are only counted. */
const PER_MINUTE = 60
const MINUTE_MS = 60_000
const MAX_NAMES = 10_000

interface Minute {
  readonly orgId: string
  readonly idpId: string | null
  since: number
  seen: number
}

/** Refusals that have no entry of their own. */
export interface Unrecorded {
  readonly orgId: string
  readonly idpId: string | null
  readonly count: number
}

/** Keeps refusals from flooding the ledger: whoever has a key can cause any number of them. */
export class RefusalLog {
  readonly #minutes = new Map<string, Minute>()

  /** Whether a refusal gets an entry of its own. */
  admit(orgId: string, idpId: string | null, now: number): boolean {
    const name = `${orgId} ${idpId}`
    let minute = this.#minutes.get(name)
    if (!minute) {
      if (this.#minutes.size >= MAX_NAMES) return false
      this.#minutes.set(name, (minute = { orgId, idpId, since: now, seen: 0 }))
    }
    return ++minute.seen <= PER_MINUTE
  }

  /** What was only counted in minutes that are over; they begin anew. */
  settle(now: number): Unrecorded[] {
    const unrecorded: Unrecorded[] = []
    for (const [name, { orgId, idpId, since, seen }] of this.#minutes) {
      if (now - since < MINUTE_MS) continue
      this.#minutes.delete(name)
      if (seen > PER_MINUTE) unrecorded.push({ orgId, idpId, count: seen - PER_MINUTE })
    }
    return unrecorded
  }
}
