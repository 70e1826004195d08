/** Why a token was not exchanged; shown to administrators in the ledger, never to who sent it. */
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

/** A token that is not exchanged. */
export class Refusal extends Error {
  readonly reason: RefusalReason
  constructor(reason: RefusalReason) {
    super(reason)
    this.name = 'Refusal'
    this.reason = reason
  }
}
