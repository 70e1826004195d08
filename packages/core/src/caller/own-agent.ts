import { fail, invalid } from '../base/errors.ts'
import type { Caller } from './caller.ts'

/** Returns the agent that a caller acts as; null for keys, which may act for any agent. */
export const ownAgent = (caller: Caller | null): string | null =>
  caller?.principal.type === 'credential' ? caller.principal.agentId : null

/** Returns true if the caller may see data of an agent; to other callers it does not exist. */
export const isOwn = (caller: Caller | null, agentId: string | null): boolean =>
  (ownAgent(caller) ?? agentId) === agentId

/** Throws if a credential names an agent other than its own. */
export function actAs(caller: Caller | null, agentId: string | undefined): void {
  const own = ownAgent(caller)
  if (own !== null && agentId !== undefined && agentId !== own)
    throw fail('agent_mismatch', `This credential is ${own}'s`, { asked: agentId })
}

/** Returns the request with its agent: a credential's own agent by default. Throws like `actAs`. */
export function withAgent<T extends { readonly agent_id?: string | undefined }>(
  caller: Caller,
  request: T,
): T & { readonly agent_id: string } {
  actAs(caller, request.agent_id)
  // Most requests name the agent and are not copied.
  if (request.agent_id !== undefined) return request as T & { readonly agent_id: string }
  const own = ownAgent(caller)
  if (own === null) throw invalid('agent_id', 'is required with an ingest key')
  return { ...request, agent_id: own }
}

/** Rejects every agent credential, regardless of its scopes. */
export function refuseAgents(caller: Caller | null): void {
  if (ownAgent(caller) !== null) throw fail('principal_not_allowed')
}
