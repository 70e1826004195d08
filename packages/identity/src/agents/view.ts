import type { Agent, Owner, Scope } from '@remit/contract'
import type { AnyDatabase } from '@remit/core/db'
import { agentFacts } from '@remit/core/decision'
import type { RegisteredAgent } from '@remit/core/module'
import type { AgentRow, AgentSubjectRow } from '../tables/agents.ts'
import { subjectsOf } from './store.ts'

const ownersOf = (row: AgentRow): Owner[] => JSON.parse(row.owners) as Owner[]
export const allowedScopes = (row: Pick<AgentRow, 'allowed_scopes'>): Scope[] =>
  JSON.parse(row.allowed_scopes) as Scope[]
const labelsOf = (row: AgentRow): Record<string, string> =>
  JSON.parse(row.labels) as Record<string, string>

/** An agent in API and ledger form. */
export const wireAgent = (row: AgentRow, subjects: readonly AgentSubjectRow[]): Agent => ({
  agent_id: row.agent_id,
  name: row.name,
  description: row.description,
  owners: ownersOf(row),
  environment: row.environment,
  labels: labelsOf(row),
  allowed_scopes: allowedScopes(row),
  max_credential_ttl_seconds: row.max_credential_ttl_seconds,
  federation: {
    issuers: JSON.parse(row.issuers) as string[],
    subjects: subjects
      .filter(({ agent_id }) => agent_id === row.agent_id)
      .map(({ idp_id, subject }) => ({ idp_id, subject })),
  },
  spiffe_id: row.spiffe_id,
  agent_card_url: row.agent_card_url,
  status: row.status === 'suspended' ? 'suspended' : 'active',
  suspended_at: row.suspended_at,
  suspended_reason: row.suspended_reason,
  created_at: row.created_at,
  created_by: row.created_by,
  updated_at: row.updated_at,
  version: row.version,
})

/** Agents in API form. */
export async function wireAgents(
  db: AnyDatabase,
  orgId: string,
  rows: readonly AgentRow[],
): Promise<Agent[]> {
  const ids = rows.map(({ agent_id }) => agent_id)
  const subjects = Map.groupBy(await subjectsOf(db, orgId, ids), ({ agent_id }) => agent_id)
  return rows.map((row) => wireAgent(row, subjects.get(row.agent_id) ?? []))
}

const REMOVED: RegisteredAgent = { status: 'removed', reason: null, owners: [], attributes: {} }

export function registeredAgent(row: AgentRow): RegisteredAgent {
  if (row.status === 'removed') return REMOVED
  const owners = ownersOf(row)
  return {
    status: row.status,
    reason: row.suspended_reason,
    owners,
    attributes: agentFacts({ ...row, labels: labelsOf(row), owners }),
  }
}
