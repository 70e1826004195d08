import { ACCESS_TOKEN_TYPE, SCOPES, SUBJECT_TOKEN_TYPES } from '@remit/contract'
import type { Scope, TokenRequest } from '@remit/contract'
import { fail, invalid } from '@remit/core/base'

/** The grammar of RFC 6749 §3.3: printable ASCII without `"` and `\`, separated by single spaces. */
const SCOPE = /^[!#-[\]-~]+( [!#-[\]-~]+)*$/
const SCOPE_FORM =
  'must be scopes of printable ASCII without quotation marks and backslashes, separated by single spaces'

const SUBJECT_TYPES: ReadonlySet<string> = new Set(SUBJECT_TOKEN_TYPES)

/** Refuses requests other than the supported token exchange (RFC 8693 §2.1, §2.2.2). */
export function checkRequest(request: TokenRequest): void {
  if (!SUBJECT_TYPES.has(request.subject_token_type))
    throw invalid('subject_token_type', `must be one of ${SUBJECT_TOKEN_TYPES.join(', ')}`)
  const { requested_token_type: type = ACCESS_TOKEN_TYPE } = request
  if (type !== ACCESS_TOKEN_TYPE)
    throw invalid('requested_token_type', `must be ${ACCESS_TOKEN_TYPE}`)
  if (request.scope !== undefined && !SCOPE.test(request.scope))
    throw fail('invalid_scope', `scope: ${SCOPE_FORM}`, {
      errors: [{ path: 'scope', message: SCOPE_FORM }],
    })
  // Ignoring it would create a credential with less information than requested.
  if (request.actor_token !== undefined) throw invalid('actor_token', 'is not supported')
}

/**
 * The scopes of a credential: the requested ones, or all available ones. Null if a requested one is
 * not available; none is dropped silently.
 */
export function scopesFor(
  asked: string | undefined,
  byIssuer: readonly Scope[],
  byAgent: readonly Scope[],
): Scope[] | null {
  const available = SCOPES.filter((scope) => byIssuer.includes(scope) && byAgent.includes(scope))
  if (asked === undefined) return available.length > 0 ? available : null
  const names = new Set(asked.split(' '))
  const granted = available.filter((scope) => names.has(scope))
  return granted.length === names.size ? granted : null
}
