import { fail, invalid } from '../base/errors.ts'
import type { Caller } from './caller.ts'

/** The agent as which a caller acts; null for keys, which may act for any. */
export const ownAgent = (caller: Caller | null): string | null =>
  caller?.principal.type === 'credential' ? caller.principal.agentId : null

/** Whether what is an agent's is the caller's to see; to others it does not exist. */
export const isOwn = (caller: Caller | null, agentId: string | null): boolean =>
  (ownAgent(caller) ?? agentId) === agentId

/** Refuses a credential that names another agent than its own. */
export function actAs(caller: Caller | null, agentId: string | undefined): void {
  const own = ownAgent(caller)
  if (own !== null && agentId !== undefined && agentId !== own)
    throw fail('agent_mismatch', `This credential is ${own}'s`, { asked: agentId })
}

/** The request with its agent: a credential's own where it names none. Refuses what `actAs` refuses. */
export function withAgent<T extends { readonly agent_id?: string | undefined }>(
  caller: Caller,
  request: T,
): T & { readonly agent_id: string } {
  actAs(caller, request.agent_id)
  // Most requests name it, and are not copied.
  if (request.agent_id !== undefined) return request as T & { readonly agent_id: string }
  const own = ownAgent(caller)
  if (own === null) throw invalid('agent_id', 'is required with an ingest key')
  return { ...request, agent_id: own }
}

/** Refuses every agent, whatever the scopes of its credential say. */
export function refuseAgents(caller: Caller | null): void {
  if (ownAgent(caller) !== null) throw fail('principal_not_allowed')
}
