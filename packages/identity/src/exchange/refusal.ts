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

/** A refused token. */
export class TokenRefusal extends Error {
  readonly reason: RefusalReason
  constructor(reason: RefusalReason) {
    super(reason)
    this.name = 'Refusal'
    this.reason = reason
  }
}
