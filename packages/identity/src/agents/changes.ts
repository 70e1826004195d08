import type { Agent, AgentChange, AgentInput } from '@remit/contract'
import { fail, invalid } from '@remit/core/base'
import { actorOf, personOf, refuseAgents } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { receipted, recording } from '@remit/core/ledger/lanes'
import type { Change, EntryDraft, Outcome, LedgerScope } from '@remit/core/ledger/lanes'
import { checkCount } from '@remit/core/orgs/settings'
import { furtherRevoked, IDS_AN_ENTRY, revokeCredentials } from '../base/revoke-credentials.ts'
import type { AgentRow, AgentSubjectRow } from '../tables/agents.ts'
import {
  countAgents,
  findAgent,
  findAgentOfSubject,
  insertAgent,
  replaceSubjects,
  subjectsOf,
  updateAgent,
} from './store.ts'
import { wireAgent } from './view.ts'

/** The maximum number of agents of an organization; every process caches those of its organizations. */
export const MAX_AGENTS = 50_000

/** Removes the stop of an agent from before its registration and returns its reason. */
export type ReleaseStop = (scope: LedgerScope, agentId: string) => Promise<string | null>

/** Registers an agent. An agent that was stopped before stays suspended. */
export const registration =
  (agentId: string, input: AgentInput, releaseStop: ReleaseStop): Change<Agent> =>
  async (scope, caller) => {
    refuseAgents(caller)
    const { tx, orgId } = scope
    if (agentId.startsWith('remit.'))
      throw invalid('agent_id', 'must not begin with remit., which is reserved')
    if (await findAgent(tx, orgId, agentId))
      throw fail('agent_exists', `${agentId} is or was registered`)
    if ((await countAgents(tx, orgId)) >= MAX_AGENTS) throw fail('too_many_agents')
    await checkCount(scope.organization, 'agents', () => countAgents(tx, orgId))
    const row = newRow(scope, caller, agentId, input, await releaseStop(scope, agentId))
    await insertAgent(tx, row)
    await setSubjects(scope, agentId, input.federation)
    const entry = { kind: 'agent.registered', ...(await headOf(row, scope, caller)) } as const
    return answered([entry], row, scope)
  }

/** Changes an agent. `ifVersion`: the expected version. */
export const alteration =
  (agentId: string, change: AgentChange, ifVersion: number | null): Change<Agent> =>
  async (scope, caller) => {
    refuseAgents(caller)
    const { status, suspended_reason: reason, ...rest } = change
    const before = await agentAt(scope, agentId, ifVersion)
    const { recordedAt: at, configVersion } = scope
    let row = revised({ ...before, ...changedFields(rest) }, at, configVersion)
    const kinds: Kind[] = Object.keys(rest).length > 0 ? ['agent.updated'] : []
    if (status === 'suspended') {
      row = suspended(row, reason ?? null, at)
      kinds.push('agent.suspended')
    } else if (status === 'active') {
      if (before.status !== 'active') kinds.push('agent.resumed')
      row = resumed(row)
    }
    await updateAgent(scope.tx, row)
    if (rest.federation) await setSubjects(scope, agentId, rest.federation)
    const head = await headOf(row, scope, caller)
    const entries = (kinds.length > 0 ? kinds : (['agent.updated'] as const)).map((kind) =>
      kind === 'agent.suspended' ? suspension(row, head) : { kind, ...head },
    )
    return answered(entries, row, scope)
  }

/** Removes an agent permanently; its credentials end with it. */
export const removal =
  (agentId: string, ifVersion: number | null): Change<undefined> =>
  async (scope, caller) => {
    refuseAgents(caller)
    const before = await agentAt(scope, agentId, ifVersion)
    const { tx, orgId, recordedAt: at } = scope
    const whole = await headOf(before, scope, caller)
    await replaceSubjects(tx, orgId, agentId, [])
    await updateAgent(tx, revised(tombstone(before, at), at, scope.configVersion))
    const by = actorOf(caller).id
    const ended = await revokeCredentials(tx, orgId, { agent_id: agentId }, { at, by })
    const first = { ...whole.data, revoked_credentials: ended.slice(0, IDS_AN_ENTRY) }
    const cause = { agent_id: agentId, cause: 'agent_removed' } as const
    return recording(
      { kind: 'agent.removed', ...whole, data: first },
      ...furtherRevoked(ended, { ...whole, data: { ...cause, ...personOf(caller) } }),
    )
  }

/** Suspends an agent on behalf of the operator; null if it was never registered. */
export async function suspendAgent(
  scope: LedgerScope,
  agentId: string,
  reason: string | null,
): Promise<EntryDraft<'agent.suspended'> | null> {
  const before = await findAgent(scope.tx, scope.orgId, agentId)
  if (!before) return null
  const { recordedAt: at, configVersion } = scope
  const row = revised(suspended(registered(before), reason, at), at, configVersion)
  await updateAgent(scope.tx, row)
  return suspension(row, await headOf(row, scope, null))
}

/** Resumes an agent on behalf of the operator; null if it was never registered. */
export async function resumeAgent(
  scope: LedgerScope,
  agentId: string,
): Promise<EntryDraft<'agent.resumed'> | null> {
  const before = await findAgent(scope.tx, scope.orgId, agentId)
  if (!before) return null
  if (registered(before).status !== 'suspended')
    throw fail('not_found', `${agentId} is not suspended`)
  const row = revised(resumed(before), scope.recordedAt, scope.configVersion)
  await updateAgent(scope.tx, row)
  return { kind: 'agent.resumed', ...(await headOf(row, scope, null)) }
}

function registered(row: AgentRow | undefined): AgentRow {
  if (!row || row.status === 'removed') throw fail('agent_not_found')
  return row
}

/** The agent in a transaction; throws for removed ones. */
export const agentIn = async ({ tx, orgId }: LedgerScope, agentId: string): Promise<AgentRow> =>
  registered(await findAgent(tx, orgId, agentId))

/** The agent in a transaction; throws if it has another version than the expected one. */
async function agentAt(scope: LedgerScope, agentId: string, ifVersion: number | null) {
  const row = await agentIn(scope, agentId)
  if (ifVersion !== null && ifVersion !== row.version)
    throw fail('version_mismatch', `The agent has version ${row.version}`)
  return row
}

async function setSubjects(
  { tx, orgId }: LedgerScope,
  agentId: string,
  federation: NonNullable<AgentChange['federation']>,
): Promise<void> {
  const rows = subjectRows(orgId, agentId, federation)
  const taken = new Set<string>()
  for (const [i, { idp_id, subject }] of rows.entries()) {
    const path = `federation.subjects.${i}`
    const name = JSON.stringify([idp_id, subject])
    if (taken.has(name)) throw invalid(path, 'is listed twice')
    taken.add(name)
    const other = await findAgentOfSubject(tx, orgId, idp_id, subject)
    if (other !== undefined && other !== agentId) {
      throw fail('subject_taken', `${path} belongs to ${other}`, {
        errors: [{ path, message: `already belongs to the agent ${other}` }],
      })
    }
  }
  await replaceSubjects(tx, orgId, agentId, rows)
}

type Kind = 'agent.updated' | 'agent.suspended' | 'agent.resumed'
type Head = Pick<EntryDraft<'agent.updated'>, 'actor' | 'agent_id' | 'data'>

/** The head and the common data of an entry. */
async function headOf(
  row: AgentRow,
  { tx, orgId }: LedgerScope,
  caller: Caller | null,
): Promise<Head> {
  const agent = wireAgent(row, await subjectsOf(tx, orgId, [row.agent_id]))
  const { agent_id } = row
  return { actor: actorOf(caller), agent_id, data: { agent, agent_id, ...personOf(caller) } }
}

const suspension = (row: AgentRow, head: Head): EntryDraft<'agent.suspended'> => ({
  kind: 'agent.suspended',
  ...head,
  data: { ...head.data, reason: row.suspended_reason },
})

async function answered(
  entries: readonly EntryDraft[],
  row: AgentRow,
  { tx, orgId }: LedgerScope,
): Promise<Outcome<Agent>> {
  const agent = wireAgent(row, await subjectsOf(tx, orgId, [row.agent_id]))
  return receipted(entries, agent)
}

/** A new agent, suspended if `stopped`, the reason of an earlier stop, is not null. */
const newRow = (
  { orgId, recordedAt: at, configVersion: revision }: LedgerScope,
  caller: Caller | null,
  agentId: string,
  input: AgentInput,
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
  created_by: actorOf(caller).id,
  updated_at: at,
  suspended_at: stopped === null ? null : at,
  suspended_reason: stopped || null,
  removed_at: null,
  version: 1,
  revision,
})

/** The columns that a change sets, without the status. */
function changedFields(change: AgentChange): Partial<AgentRow> {
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

const suspended = (row: AgentRow, reason: string | null, at: string): AgentRow => ({
  ...row,
  status: 'suspended',
  suspended_at: row.suspended_at ?? at,
  suspended_reason: reason,
})

const resumed = (row: AgentRow): AgentRow => ({
  ...row,
  status: 'active',
  suspended_at: null,
  suspended_reason: null,
})

/** The remaining row of a removed agent, which reserves its id. */
const tombstone = (row: AgentRow, at: string): AgentRow => ({
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
const revised = (row: AgentRow, at: string, revision: number): AgentRow => ({
  ...row,
  updated_at: at,
  version: row.version + 1,
  revision,
})

const subjectRows = (
  orgId: string,
  agentId: string,
  { subjects }: NonNullable<AgentChange['federation']>,
): AgentSubjectRow[] =>
  subjects.map(({ idp_id, subject }) => ({ org_id: orgId, idp_id, subject, agent_id: agentId }))
