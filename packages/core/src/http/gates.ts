import type { Endpoint } from '@remit/contract'
import { fail } from '../base/errors.ts'
import { reaches } from '../keys/authenticator.ts'
import type { Caller, CredentialPrincipal, KeyPrincipal } from '../caller/caller.ts'

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
  if (principal.type === 'key') admitRole(endpoint, principal)
  else admitScope(endpoint, principal)
}

function admitRole({ roles }: Endpoint, { role }: KeyPrincipal): void {
  if (role === 'admin' || roles.includes(role)) return
  throw fail(
    'role_required',
    `This endpoint requires a key with one of the roles ${['admin', ...roles].join(', ')}; this key has ${role}`,
  )
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
