import type { Scope } from '@remit/contract'
import type { AnyDatabase } from '@remit/core/db'
import { findAgent, findAgentOfSubject } from '../agents/store.ts'
import { allowedScopes } from '../agents/view.ts'
import { TokenRefusal } from './refusal.ts'

/** An agent for an exchange. */
export interface FederatedAgent {
  readonly agentId: string
  readonly allowedScopes: readonly Scope[]
  readonly maxTtlSeconds: number | null
}

const ACTIVE = { status: 'active' }

interface Sought {
  readonly orgId: string
  readonly idpId: string
  readonly subject: string
  /** Null selects the agent with the subject. */
  readonly agentId: string | null
}

/** The agent of a token: active, and accepting tokens of the issuer. */
export async function findFederated(
  tx: AnyDatabase,
  { orgId, idpId, subject, agentId }: Sought,
): Promise<FederatedAgent> {
  const id = agentId ?? (await findAgentOfSubject(tx, orgId, idpId, subject))
  const row = id === undefined ? undefined : await findAgent(tx, orgId, id)
  if (!row || row.status === 'removed')
    throw new TokenRefusal(
      'mapping',
      { agent_id: id, status: row?.status },
      { agent_id: agentId === null ? 'an agent that lists the subject' : 'a registered agent' },
    )
  if (row.status !== 'active')
    throw new TokenRefusal('agent_inactive', { agent_id: id, status: row.status }, ACTIVE)
  // A listed subject implies consent.
  const issuers = JSON.parse(row.issuers) as string[]
  if (agentId !== null && !issuers.includes(idpId))
    throw new TokenRefusal('consent', { agent_id: id, idp_id: idpId }, { idp_id: issuers })
  return {
    agentId: row.agent_id,
    allowedScopes: allowedScopes(row),
    maxTtlSeconds: row.max_credential_ttl_seconds,
  }
}
