import { DEFAULT_CREDENTIAL_TTL_SECONDS } from '@remit/contract'
import type { Answer, CredentialInput, credentials as endpoints, Scope } from '@remit/contract'
import { fail, invalid, isoTime } from '@remit/core/base'
import { actorOf, personOf, refuseAgents } from '@remit/core/caller'
import { firstOf } from '@remit/core/ledger/lanes'
import type { Change, EntryDraft, WriteContext } from '@remit/core/ledger/lanes'
import { agentIn } from '../agents/changes.ts'
import type { AgentRow } from '../tables/agents.ts'
import { allowedScopes } from '../agents/view.ts'
import type { Hasher } from './hasher.ts'
import { checkLimits } from './limits.ts'
import { mint } from './mint.ts'
import type { CredentialRow } from '../tables/credentials.ts'
import { endAt, findCredential } from './store.ts'
import { scopesOf, statusAt, wireCredential } from './view.ts'

type Issued = Answer<typeof endpoints.issueCredential>

/** Issues a credential to an agent, or rotates one. */
export const issuance =
  (hasher: Hasher, agentId: string, input: CredentialInput): Change<Issued> =>
  async (scope, caller) => {
    refuseAgents(caller)
    const agent = await agentIn(scope, agentId)
    if (agent.status === 'suspended')
      throw fail('agent_suspended', `${agentId} cannot receive credentials until it is resumed`)
    const old = input.rotate ? await rotatable(scope, agentId, input.rotate.credential_id) : null
    const scopes = scopesFor(input, agent, old)
    const { tx, orgId, now, recordedAt: at } = scope
    await checkLimits(scope, agentId, 'issued', old ? 1 : 0)
    const minted = await mint(scope, hasher, {
      agentId,
      scopes,
      expiresAt: now + ttlSeconds(input, agent) * 1000,
      issuedBy: actorOf(caller).id,
      name: input.name ?? old?.name ?? null,
      ...(old && { rotatedFrom: old.id }),
    })
    const credential = wireCredential(minted.row, at)
    const head = { actor: actorOf(caller), agent_id: agentId }
    const data = { credential, ...personOf(caller) }
    let entry: EntryDraft = { kind: 'credential.issued', ...head, data }
    if (old && input.rotate) {
      const until = isoTime(now + input.rotate.overlap_seconds * 1000)
      const expires_at = until < old.expires_at ? until : old.expires_at
      await endAt(tx, orgId, old.id, expires_at)
      const rotated_from = { id: old.id, expires_at }
      entry = { kind: 'credential.rotated', ...head, data: { ...data, rotated_from } }
    }
    return {
      entries: [entry],
      reply: (recorded) => ({
        secret: minted.secret,
        credential,
        ledger: firstOf(recorded).receipt,
      }),
    }
  }

/** The agent's credential to rotate; credentials from an exchange cannot be rotated. */
async function rotatable(
  { tx, orgId, recordedAt }: WriteContext,
  agentId: string,
  id: string,
): Promise<CredentialRow> {
  const row = await findCredential(tx, orgId, id)
  if (row?.agent_id !== agentId) throw fail('credential_not_found')
  const status = statusAt(row, recordedAt)
  if (status !== 'active') throw fail('credential_ended', `The credential is ${status}`)
  if (row.source !== 'issued')
    throw invalid(
      'rotate.credential_id',
      'comes from a token exchange; exchange a new token instead',
    )
  return row
}

function scopesFor(
  { scopes: asked }: CredentialInput,
  agent: AgentRow,
  old: CredentialRow | null,
): readonly Scope[] {
  const scopes = asked ?? (old ? scopesOf(old) : [])
  const beyond = (most: readonly Scope[]) => scopes.filter((scope) => !most.includes(scope))
  const [denied] = beyond(allowedScopes(agent))
  if (denied) throw invalid('scopes', `the agent is not allowed ${denied}`)
  const [wider] = old ? beyond(scopesOf(old)) : []
  if (wider) throw invalid('scopes', `${wider} is not a scope of the rotated credential`)
  return scopes
}

function ttlSeconds({ ttl_seconds: asked }: CredentialInput, agent: AgentRow): number {
  const most = agent.max_credential_ttl_seconds
  if (most === null) return asked ?? DEFAULT_CREDENTIAL_TTL_SECONDS
  if (asked !== undefined && asked > most)
    throw invalid('ttl_seconds', `must be at most ${most}, the limit of the agent`)
  return asked ?? Math.min(most, DEFAULT_CREDENTIAL_TTL_SECONDS)
}
