/** Recorded refusals per issuer and minute; further ones are only counted. */
const PER_MINUTE = 60
const MINUTE_MS = 60_000
const MAX_NAMES = 10_000

interface Minute {
  readonly orgId: string
  readonly idpId: string | null
  since: number
  seen: number
}

/** Refusals without their own entry. */
export interface Unrecorded {
  readonly orgId: string
  readonly idpId: string | null
  readonly count: number
}

/** Limits the entries of refusals: the holder of a key can cause any number of them. */
export class RefusalLog {
  readonly #minutes = new Map<string, Minute>()

  /** Returns whether a refusal gets its own entry. */
  admit(orgId: string, idpId: string | null, now: number): boolean {
    const name = `${orgId} ${idpId}`
    let minute = this.#minutes.get(name)
    if (!minute) {
      if (this.#minutes.size >= MAX_NAMES) return false
      this.#minutes.set(name, (minute = { orgId, idpId, since: now, seen: 0 }))
    }
    return ++minute.seen <= PER_MINUTE
  }

  /** Returns and resets the counts of past minutes. */
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
