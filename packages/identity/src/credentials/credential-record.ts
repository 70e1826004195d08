import type { Plan, Scope } from '@remit/contract'
import { isDistributed, on, organizationOfId, statement } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { CredentialHolder } from '@remit/core/keys'
import type { Tables } from '../tables/schema.ts'
import type { HashedSecret } from './hasher.ts'

/** A credential, live or not, with all data for its check. */
export interface CredentialRecord extends CredentialHolder, HashedSecret {
  readonly createdAt: number
  readonly revokedAt: string | null
  readonly agentStatus: 'active' | 'suspended' | 'removed'
}

/** The reason to refuse a credential with the correct secret. */
export type EndReason = 'revoked' | 'expired' | 'agent_suspended' | 'agent_removed'

/** The reason why a credential is not live at a time, milliseconds; null if it is. */
export function endReasonOf(
  { revokedAt, expiresAt, agentStatus }: CredentialRecord,
  now: number,
): EndReason | null {
  if (agentStatus === 'removed') return 'agent_removed'
  if (revokedAt !== null) return 'revoked'
  if (now >= expiresAt) return 'expired'
  return agentStatus === 'suspended' ? 'agent_suspended' : null
}

interface Row {
  readonly id: string
  readonly org_id: string
  readonly agent_id: string
  readonly hash: string
  readonly hash_scheme: string
  readonly scopes: string
  readonly created_at: string
  readonly expires_at: string
  readonly revoked_at: string | null
  readonly status: CredentialRecord['agentStatus']
  readonly allowed_scopes: string
  readonly plan: string
  readonly config_version: number | null
}

// SQLite finds a row by key ten times faster in a subquery than in a join.
const one = statement<Row>(`select c.id, c.org_id, c.agent_id, c.hash, c.hash_scheme, c.scopes,
  c.created_at, c.expires_at, c.revoked_at,
  (select a.status from agent a where a.org_id = c.org_id and a.agent_id = c.agent_id) as status,
  (select a.allowed_scopes from agent a where a.org_id = c.org_id and a.agent_id = c.agent_id) as allowed_scopes,
  (select o.plan from organization o where o.id = c.org_id) as plan,
  (select h.config_version from ledger_head h where h.org_id = c.org_id) as config_version
  from agent_credential c where c.id = ?`)

/** A credential by id, with data of its agent and organization. */
export async function findCredentialRecord(
  db: AnyDatabase,
  id: string,
): Promise<CredentialRecord | undefined> {
  if (!(await isDistributed(db))) {
    const [row] = await one(db, [id])
    return row && toKnown(row)
  }
  const orgId = await organizationOfId(db, id)
  return orgId === undefined ? undefined : (await findCredentialRecords(db, orgId, [id]))[0]
}

/** Credentials of an organization by id, with their agents and the organization. */
export async function findCredentialRecords(
  db: AnyDatabase,
  orgId: string,
  ids: readonly string[],
): Promise<CredentialRecord[]> {
  const rows = await on<Tables>(db)
    .selectFrom('agent_credential as c')
    .innerJoin('agent as a', (join) =>
      join.onRef('a.org_id', '=', 'c.org_id').onRef('a.agent_id', '=', 'c.agent_id'),
    )
    .innerJoin('organization as o', 'o.id', 'c.org_id')
    .leftJoin('ledger_head as h', 'h.org_id', 'c.org_id')
    .where('c.org_id', '=', orgId)
    .where('c.id', 'in', ids)
    .select([
      'c.id',
      'c.org_id',
      'c.agent_id',
      'c.hash',
      'c.hash_scheme',
      'c.scopes',
      'c.created_at',
      'c.expires_at',
      'c.revoked_at',
      'a.status',
      'a.allowed_scopes',
      'o.plan',
      'h.config_version',
    ])
    .execute()
  return rows.map(toKnown)
}

function toKnown(row: Row): CredentialRecord {
  const allowed = JSON.parse(row.allowed_scopes) as Scope[]
  return {
    id: row.id,
    orgId: row.org_id,
    agentId: row.agent_id,
    hash: row.hash,
    hash_scheme: row.hash_scheme,
    // The current scopes of the agent limit those of its credentials.
    scopes: (JSON.parse(row.scopes) as Scope[]).filter((scope) => allowed.includes(scope)),
    createdAt: Date.parse(row.created_at),
    expiresAt: Date.parse(row.expires_at),
    revokedAt: row.revoked_at,
    agentStatus: row.status,
    plan: row.plan as Plan,
    configVersion: row.config_version,
  }
}
