import { fail } from '../errors.ts'
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
    throw fail('agent_mismatch', `This credential is ${own}'s`)
}

/** Refuses every agent, whatever the scopes of its credential say. */
export function refuseAgents(caller: Caller | null): void {
  if (ownAgent(caller) !== null) throw fail('principal_not_allowed')
}
