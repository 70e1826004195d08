import { authorize } from '@remit/contract'
import type { CredentialInput } from '@remit/contract'
import { implement } from '@remit/core/http'
import { defineModule } from '@remit/core/module'
import { createApi as createAny } from '@remit/testing'
import type { Api, Ok, TestRemitOptions } from '@remit/testing'
import identity from '../../src/index.ts'

/**
 * POST /v1/authorize on the decision path of core without a stage: every admitted caller is
 * allowed.
 */
const deciding = defineModule({
  name: 'test_authorize',
  setup: ({ decider }) => ({
    routes: implement(authorize, {
      authorize: ({ body }, _, request) => decider.authorize(body, request),
    }),
  }),
})

export const modules = [identity, deciding] as const

/** Remit with the identity module, and an organization to call it for. */
export const createApi = (options: TestRemitOptions = {}): Promise<Api> =>
  createAny({ modules, ...options })

export const OWNERS = [{ type: 'user', id: 'ada', email: 'ada@example.org' }] as const

/** Registers an agent of Ada's. */
export const register = (
  api: Api,
  agent_id: string,
  input: object = {},
): Promise<Ok<'registerAgent'>> =>
  api.ok('registerAgent', { body: { agent_id, owners: OWNERS, ...input } })

/** Issues a credential, for deciding unless said otherwise. */
export async function issue(
  api: Api,
  agentID: string,
  input: Partial<CredentialInput> = {},
): Promise<Ok<'issueCredential'> & { secret: string }> {
  const body = { scopes: ['authorize'], ...input }
  const { secret, ...issued } = await api.ok('issueCredential', { params: { agentID }, body })
  if (secret === null) throw new Error('no secret was shown')
  return { ...issued, secret }
}
