/** The reason of a refused token; visible to administrators in the ledger, never to the sender. */
export type RefusalReason =
  | 'malformed'
  | 'header'
  | 'alg'
  | 'typ'
  | 'iss'
  | 'aud'
  | 'exp'
  | 'iat'
  | 'nbf'
  | 'life'
  | 'sub'
  | 'jti'
  | 'events'
  | 'cnf'
  | 'rate'
  | 'subject_rate'
  | 'kid_unknown'
  | 'fetch_failed'
  | 'signature'
  | 'condition'
  | 'mapping'
  | 'ambiguous'
  | 'agent_inactive'
  | 'consent'
  | 'agent_mismatch'
  | 'target'
  | 'scope'
  | 'limit'
  | 'jti_reused'

/** Values by the claim, header or setting that has them; null: absent. */
export type Named = Readonly<Record<string, unknown>>

/** The members of a refused token and the accepted values, for the entry of the refusal. */
export interface Difference {
  readonly found?: Named
  readonly allowed?: Named
}

/** A refused token. */
export class TokenRefusal extends Error {
  readonly reason: RefusalReason
  readonly difference: Difference
  constructor(reason: RefusalReason, found?: Named, allowed?: Named) {
    super(reason)
    this.name = 'Refusal'
    this.reason = reason
    this.difference = {
      ...(found && { found: shownAll(found) }),
      ...(allowed && { allowed: shownAll(allowed) }),
    }
  }
}

const MAX_SHOWN = 256
const MAX_VALUES = 10

const shownAll = (named: Named): Named => shown(named, 2) as Named

/** A value in a size that an entry has room for: nobody may have vouched for the token yet. */
function shown(value: unknown, levels: number): unknown {
  if (typeof value === 'string') return shownText(value)
  if (typeof value !== 'object' || value === null) return value ?? null
  if (levels === 0) return shownText(JSON.stringify(value))
  if (Array.isArray(value)) return value.slice(0, MAX_VALUES).map((one) => shown(one, levels - 1))
  const members = Object.entries(value).slice(0, MAX_VALUES)
  return Object.fromEntries(
    members.map(([name, member]) => [shownText(name), shown(member, levels - 1)]),
  )
}

function shownText(text: string): string {
  const whole = text.toWellFormed()
  return whole.length <= MAX_SHOWN ? whole : `${whole.slice(0, MAX_SHOWN).toWellFormed()}…`
}
