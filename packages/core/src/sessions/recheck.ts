import { sessionOf } from '../caller/caller.ts'
import type { Authenticator } from '../keys/authenticator.ts'
import type { Sessions } from './sessions.ts'

type Recheck = Authenticator['recheck']

/**
 * Returns the callers from the database, inside a transaction: keys and credentials that have not
 * changed without a query, sessions always with one.
 */
export const recheckAll =
  (authenticator: Authenticator, sessions: Sessions): Recheck =>
  async (tx, callers, configVersion, now) => {
    const signedIn = callers.filter(({ principal }) => sessionOf(principal) !== undefined)
    if (signedIn.length === 0) return authenticator.recheck(tx, callers, configVersion, now)
    const others = callers.filter((caller) => !signedIn.includes(caller))
    const checked = await authenticator.recheck(tx, others, configVersion, now)
    for (const [id, caller] of await sessions.recheck(tx, signedIn, now)) checked.set(id, caller)
    return checked
  }
