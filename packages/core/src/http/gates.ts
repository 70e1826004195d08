import type { Endpoint } from '@remit/contract'
import { fail } from '../errors.ts'
import { reaches } from '../keys/authenticator.ts'
import type { Caller } from './caller.ts'

/** Refuses a caller whose plan is below the endpoint's tier, or whose role does not reach it. */
export function admit(endpoint: Endpoint, caller: Caller): void {
  if (!reaches(caller.plan, endpoint.plan)) {
    throw fail(
      'plan_required',
      `This needs the ${endpoint.plan} plan; the organization has ${caller.plan}`,
      {
        extensions: { required_plan: endpoint.plan },
      },
    )
  }
  const { role } = caller.principal
  if (role !== 'admin' && !endpoint.roles.includes(role)) {
    const roles = ['admin', ...endpoint.roles].join(', ')
    throw fail(
      'role_required',
      `This needs a key with one of the roles ${roles}; this key has ${role}`,
    )
  }
}
