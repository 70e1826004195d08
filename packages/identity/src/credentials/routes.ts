import { credentials, DEFAULT_CREDENTIAL_TTL_SECONDS } from '@remit/contract'
import type {
  Introspection,
  Answer,
  CredentialInput,
  credentials as endpoints,
  Scope,
} from '@remit/contract'
import {
  cursorAfter,
  existing,
  fail,
  Failure,
  invalid,
  isoTime,
  pageOf,
  placeOf,
} from '@remit/core/base'
import { actorOf, personOf, refuseAgents } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import { isKeyText, publicPart } from '@remit/core/keys'
import type { Deps } from '@remit/core/module'
import { firstOf, receipted } from '@remit/core/ledger/lanes'
import type { Change, EntryDraft, LedgerScope } from '@remit/core/ledger/lanes'
import { findAgent } from '../agents/store.ts'
import type { Directory } from './directory.ts'
import type { Hasher } from './hasher.ts'
import type { CredentialRecord } from './credential-record.ts'
import {
  listCredentials,
  endAt,
  findCredential,
  revoke,
  wireCredential,
  scopesOf,
  statusAt,
} from './store.ts'
import { agentIn } from '../agents/changes.ts'
import type { AgentRow } from '../tables/agents.ts'
import { allowedScopes } from '../agents/view.ts'
import { checkLimits } from './limits.ts'
import { mint } from './mint.ts'
import type { CredentialRow } from '../tables/credentials.ts'

export const credentialRoutes = (
  { db, clock, writer }: Deps,
  directory: Directory,
  hasher: Hasher,
): Route[] =>
  implement(credentials, {
    listCredentials: async ({ params: { agentID }, query }, { orgId }) => {
      const agent = await findAgent(db, orgId, agentID)
      if (!agent || agent.status === 'removed') throw fail('agent_not_found')
      const at = isoTime(clock.now())
      const filter = { before: placeOf(query.cursor), status: query.status, at }
      return pageOf(query.limit, {
        read: (limit) => listCredentials(db, orgId, agentID, { ...filter, limit }),
        cursor: cursorAfter,
        items: (rows) => rows.map((row) => wireCredential(row, at)),
      })
    },

    issueCredential: ({ params: { agentID }, body }, caller, request) => {
      const issue = issuance(hasher, agentID, body)
      // Decisions have not read a new credential before, unless it is rotated.
      return body.rotate
        ? writer.change(caller.orgId, request, issue)
        : writer.work(caller.orgId, request, issue)
    },

    revokeCredential: ({ params }, caller, request) =>
      writer.change(caller.orgId, request, revocation(params.credID)),

    introspectCredential: async ({ body: { token } }, { orgId }) => {
      const credential = isAgentText(token) ? await directory.look(token) : null
      return credential?.orgId === orgId ? introspected(credential) : { active: false }
    },

    revokeByText: async ({ body: { token } }, caller) => {
      const id = await revocable(directory, caller, token)
      if (id === null) return {}
      try {
        const origin = { caller, claim: null, wantsNote: false, whileSuspended: true }
        await writer.change(caller.orgId, origin, revocation(id))
      } catch (error) {
        if (!(error instanceof Failure) || error.code !== 'credential_not_found') throw error
      }
      return {}
    },
  })

/** Ingest keys are not tokens that tools receive. */
const isAgentText = (text: string): boolean => !text.startsWith('rmk_') && isKeyText(text)

/**
 * The credential that a text may revoke: the holder of the whole secret may revoke it. An
 * administrator may revoke it by its public part, for example from a log with a masked or mistyped
 * secret.
 */
async function revocable(
  directory: Directory,
  { orgId, principal }: Caller,
  text: string,
): Promise<string | null> {
  if (principal.type !== 'credential' && principal.role === 'admin') {
    const isOurs = /^rm[cf]_[0-9A-Za-z]{16}/.test(text)
    return isOurs ? `cred_${publicPart(text)}` : null
  }
  const credential = isAgentText(text) ? await directory.recognize(text) : null
  return credential?.orgId === orgId ? credential.id : null
}

const introspected = ({
  id,
  agentId,
  scopes,
  createdAt,
  expiresAt,
}: CredentialRecord): Introspection => ({
  active: true,
  token_type: 'Bearer',
  scope: scopes.join(' '),
  sub: agentId,
  client_id: agentId,
  iat: Math.floor(createdAt / 1000),
  exp: Math.floor(expiresAt / 1000),
  agent_id: agentId,
  credential_id: id,
})

type Issued = Answer<typeof endpoints.issueCredential>

const issuance =
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
  { tx, orgId, recordedAt }: LedgerScope,
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

type Revoked = Answer<typeof endpoints.revokeCredential>

/** Revokes a credential: after the commit, no request with it is carried out. */
const revocation =
  (id: string): Change<Revoked> =>
  async ({ tx, orgId, recordedAt: at }, caller) => {
    refuseAgents(caller)
    const actor = actorOf(caller)
    const row = existing(await revoke(tx, orgId, id, { at, by: actor.id }), 'credential_not_found')
    const credential = wireCredential(row, at)
    const { agent_id } = row
    const data = { credential, ...personOf(caller) }
    return receipted([{ kind: 'credential.revoked', actor, agent_id, data }], {
      id,
      revoked_at: at,
    })
  }
