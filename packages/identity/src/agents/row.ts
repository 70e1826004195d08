import type { AgentChange, AgentInput } from '@remit/contract'
import type { AgentRow, AgentSubjectRow } from '../tables/agents.ts'

interface Making {
  readonly orgId: string
  readonly agentId: string
  readonly at: string
  readonly by: string
  readonly revision: number
}

/** A new agent, suspended if `stopped`, the reason of an earlier stop, is not null. */
export const newRow = (
  input: AgentInput,
  { orgId, agentId, at, by, revision }: Making,
  stopped: string | null,
): AgentRow => ({
  org_id: orgId,
  agent_id: agentId,
  name: input.name,
  description: input.description,
  status: stopped === null ? 'active' : 'suspended',
  owners: JSON.stringify(input.owners),
  environment: input.environment,
  labels: JSON.stringify(input.labels),
  allowed_scopes: JSON.stringify(input.allowed_scopes),
  max_credential_ttl_seconds: input.max_credential_ttl_seconds,
  issuers: JSON.stringify(input.federation.issuers),
  spiffe_id: input.spiffe_id,
  agent_card_url: input.agent_card_url,
  created_at: at,
  created_by: by,
  updated_at: at,
  suspended_at: stopped === null ? null : at,
  suspended_reason: stopped || null,
  removed_at: null,
  version: 1,
  revision,
})

/** The columns that a change sets, without the status. */
export function changedFields(change: AgentChange): Partial<AgentRow> {
  const { name, description, owners, environment, labels, allowed_scopes: scopes } = change
  const { max_credential_ttl_seconds: ttl, federation, spiffe_id, agent_card_url } = change
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
    ...(owners && { owners: JSON.stringify(owners) }),
    ...(environment !== undefined && { environment }),
    ...(labels && { labels: JSON.stringify(labels) }),
    ...(scopes && { allowed_scopes: JSON.stringify(scopes) }),
    ...(ttl !== undefined && { max_credential_ttl_seconds: ttl }),
    ...(federation && { issuers: JSON.stringify(federation.issuers) }),
    ...(spiffe_id !== undefined && { spiffe_id }),
    ...(agent_card_url !== undefined && { agent_card_url }),
  }
}

export const suspended = (row: AgentRow, reason: string | null, at: string): AgentRow => ({
  ...row,
  status: 'suspended',
  suspended_at: row.suspended_at ?? at,
  suspended_reason: reason,
})

export const resumed = (row: AgentRow): AgentRow => ({
  ...row,
  status: 'active',
  suspended_at: null,
  suspended_reason: null,
})

/** The remaining row of a removed agent, which reserves its id. */
export const tombstone = (row: AgentRow, at: string): AgentRow => ({
  ...row,
  name: null,
  description: null,
  status: 'removed',
  owners: '[]',
  environment: null,
  labels: '{}',
  allowed_scopes: '[]',
  max_credential_ttl_seconds: null,
  issuers: '[]',
  spiffe_id: null,
  agent_card_url: null,
  suspended_at: null,
  suspended_reason: null,
  removed_at: at,
})

/** The next version of a row, changed at `revision`. */
export const revised = (row: AgentRow, at: string, revision: number): AgentRow => ({
  ...row,
  updated_at: at,
  version: row.version + 1,
  revision,
})

export const subjectRows = (
  orgId: string,
  agentId: string,
  { subjects }: NonNullable<AgentChange['federation']>,
): AgentSubjectRow[] =>
  subjects.map(({ idp_id, subject }) => ({ org_id: orgId, idp_id, subject, agent_id: agentId }))
