import type { Clock } from '@remit/core/base'
import { createKey } from '@remit/core/orgs'
import { createTestRemit } from '@remit/testing'
import type { Role } from '@remit/contract'
import governance from '../../src/index.ts'
import { apiOf } from './api.ts'
import type { Api } from './api.ts'

export const TRANSFER = {
  agent_id: 'payer',
  action: 'payments.transfer',
  context: { amount: 5000, vendor: 'acme' },
}

/** Sets an approval rule for `payments.*`, or what `rule` says otherwise. */
export const setRule = (api: Api, rule: object = {}, id = 'large') =>
  api.ok('setApprovalRule', { params: { id }, body: { actions: ['payments.*'], ...rule } })

export const ask = (api: Api, request: object = TRANSFER) => api.ok('authorize', { body: request })

/** Asks for what needs an approval; the id of its request. */
export async function open(api: Api, request: object = TRANSFER): Promise<string> {
  const { approval, reason } = await ask(api, request)
  if (!approval) throw new Error(`there is no request for approval: ${reason}`)
  return approval.id
}

export const decide = (
  api: Api,
  requestID: string,
  body: object = { decision: 'approve' },
  key?: string,
) => api.ok('decideApproval', { params: { requestID }, body, ...(key !== undefined && { key }) })

/** Asks and has it approved. */
export async function approved(api: Api, request: object = TRANSFER): Promise<string> {
  const id = await open(api, request)
  await decide(api, id)
  return id
}

export const read = (api: Api, id: string) => api.ok('getApproval', { params: { id } })

/** The secret of a key that names a person. */
export const personKey = async (api: Api, role: Role, person: string): Promise<string> =>
  (await createKey(api.remit.writer, api.org.id, { role, person })).secret

/** A second process on the same PostgreSQL. */
export async function another(api: Api, clock: Clock): Promise<Api> {
  const { url, signingKey } = api.remit
  const made = await createTestRemit({ modules: [governance], url, signingKey, clock })
  return apiOf(made, api.org)
}

/** Kinds of the entries about approvals, oldest first. */
export async function kinds(api: Api, agent_id?: string): Promise<string[]> {
  const query = { order: 'asc', limit: 1000, ...(agent_id !== undefined && { agent_id }) }
  const { data } = await api.ok('listEntries', { query })
  return data.map((entry) => entry.kind).filter((kind) => kind.startsWith('approval.'))
}
