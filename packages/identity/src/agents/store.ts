import { on, orgTable } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import type { Tables } from '../tables/schema.ts'
import type { AgentRow, AgentSubjectRow } from '../tables/agents.ts'

const agents = orgTable<Tables, 'agent'>('agent', 'agent_id', [])

/** The agents of an organization, including removed ones. */
export const { find: findAgent, insert: insertAgent, update: updateAgent } = agents

const REGISTERED = { status: ['active', 'suspended'] } as const

/** Registered agents in order of id, after `after`. */
export const listAgents = (
  db: AnyDatabase,
  orgId: string,
  page: { limit: number; after?: string | undefined },
): Promise<AgentRow[]> => agents.list(db, orgId, { ...page, where: REGISTERED })

/** Agents changed after a revision, including removed ones; null for all. */
export const agentsSince = (
  db: AnyDatabase,
  orgId: string,
  revision: number | null,
): Promise<AgentRow[]> => {
  const all = on<Tables>(db).selectFrom('agent').selectAll().where('org_id', '=', orgId)
  return (revision === null ? all : all.where('revision', '>', revision)).execute()
}

export const countAgents = (db: AnyDatabase, orgId: string): Promise<number> =>
  agents.count(db, orgId, REGISTERED)

/** The issuer subjects of these agents. */
export async function subjectsOf(
  db: AnyDatabase,
  orgId: string,
  agentIds: readonly string[],
): Promise<AgentSubjectRow[]> {
  if (agentIds.length === 0) return []
  return on<Tables>(db)
    .selectFrom('agent_subject')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('agent_id', 'in', agentIds)
    .orderBy('idp_id')
    .orderBy('subject')
    .execute()
}

export async function findAgentOfSubject(
  db: AnyDatabase,
  orgId: string,
  idpId: string,
  subject: string,
): Promise<string | undefined> {
  const row = await on<Tables>(db)
    .selectFrom('agent_subject')
    .select('agent_id')
    .where('org_id', '=', orgId)
    .where('idp_id', '=', idpId)
    .where('subject', '=', subject)
    .executeTakeFirst()
  return row?.agent_id
}

export async function replaceSubjects(
  db: AnyDatabase,
  orgId: string,
  agentId: string,
  rows: readonly AgentSubjectRow[],
): Promise<void> {
  await on<Tables>(db)
    .deleteFrom('agent_subject')
    .where('org_id', '=', orgId)
    .where('agent_id', '=', agentId)
    .execute()
  if (rows.length > 0) await on<Tables>(db).insertInto('agent_subject').values(rows).execute()
}
