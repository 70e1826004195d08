import type { CredentialInput, Scope } from '@remit/contract'
import { createApi } from '@remit/testing'
import type { Api, Ok, TestRemitOptions } from '@remit/testing'
import { loadModules } from '../../src/boot/modules.ts'

/** The whole enterprise edition, and an organization to call it for. */
export const createEnterprise = async (options: TestRemitOptions = {}): Promise<Api> =>
  createApi({ modules: await loadModules(), ...options })

export const OWNERS = [{ type: 'user', id: 'ada', email: 'ada@example.org' }] as const

const ALL_SCOPES: readonly Scope[] = [
  'approvals:read',
  'authorize',
  'guard',
  'ledger:append',
  'ledger:read',
  'scorers',
  'spend:read',
  'trust:check',
]

/** Registers an agent of Ada's whose credentials may have every scope. */
export const register = (
  api: Api,
  agent_id: string,
  input: object = {},
): Promise<Ok<'registerAgent'>> =>
  api.ok('registerAgent', {
    body: { agent_id, owners: OWNERS, allowed_scopes: ALL_SCOPES, ...input },
  })

/** A credential with every scope, unless said otherwise. */
export async function issue(
  api: Api,
  agentID: string,
  input: Partial<CredentialInput> = {},
): Promise<{ id: string; secret: string }> {
  const body = { scopes: ALL_SCOPES, ...input }
  const { credential, secret } = await api.ok('issueCredential', { params: { agentID }, body })
  if (secret === null) throw new Error('no secret was shown')
  return { id: credential.id, secret }
}

/** Decides a request that only the state of the agent can deny. */
export async function decide(api: Api, agent_id: string, key?: string): Promise<string> {
  const body = { agent_id, action: 'a.b' }
  const { decision, reason } = await api.ok('authorize', {
    body,
    ...(key !== undefined && { key }),
  })
  return decision === 'allow' ? 'allow' : reason
}
