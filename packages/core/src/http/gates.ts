import type { Endpoint } from '@remit/contract'
import { fail } from '../base/errors.ts'
import { sessionOf } from '../caller/caller.ts'
import { reaches } from '../keys/authenticator.ts'
import type {
  Caller,
  CredentialPrincipal,
  KeyPrincipal,
  PersonPrincipal,
} from '../caller/caller.ts'

/**
 * Rejects a caller whose plan is below the tier of the endpoint, or whose role or scopes are not
 * sufficient.
 */
export function admit(endpoint: Endpoint, { plan, principal }: Caller): void {
  if (!reaches(plan, endpoint.plan)) {
    throw fail(
      'plan_required',
      `This endpoint requires the ${endpoint.plan} plan; the organization has ${plan}`,
      {
        extensions: { required_plan: endpoint.plan },
      },
    )
  }
  if (endpoint.anyPrincipal) return
  if (principal.type === 'credential') admitScope(endpoint, principal)
  else admitRole(endpoint, principal)
}

function admitRole({ roles }: Endpoint, { type, role }: KeyPrincipal | PersonPrincipal): void {
  if (role === 'admin' || roles.includes(role)) return
  throw fail(
    'role_required',
    `This endpoint requires a ${type} with one of the roles ${['admin', ...roles].join(', ')}; this ${type} has ${role}`,
  )
}

/**
 * Returns true if a caller would be admitted. OAuth endpoints, which take forms, accept no session.
 */
export function mayCall(endpoint: Endpoint, caller: Caller): boolean {
  if (endpoint.operator) return false
  if (endpoint.form && sessionOf(caller.principal) !== undefined) return false
  try {
    admit(endpoint, caller)
    return true
  } catch {
    return false
  }
}

/** An endpoint without a scope accepts only keys, regardless of the scopes of a credential. */
function admitScope({ scope }: Endpoint, { scopes }: CredentialPrincipal): void {
  if (scope === null) throw fail('principal_not_allowed')
  if (scopes.includes(scope)) return
  throw fail('insufficient_scope', `This endpoint requires the scope ${scope}`, {
    extensions: { required_scope: scope },
    headers: {
      'WWW-Authenticate': `Bearer realm="remit", error="insufficient_scope", scope="${scope}"`,
    },
  })
}
