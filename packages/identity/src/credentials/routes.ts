import { credentials } from '@remit/contract'
import type { Introspection } from '@remit/contract'
import { cursorAfter, fail, Failure, isoTime, pageOf, placeOf } from '@remit/core/base'
import type { Caller } from '@remit/core/caller'
import { implement } from '@remit/core/http'
import type { Route } from '@remit/core/http'
import { isKeyText, publicPart } from '@remit/core/keys'
import type { Deps } from '@remit/core/module'
import { findAgent } from '../agents/store.ts'
import type { Directory } from './directory.ts'
import type { Hasher } from './hasher.ts'
import { issuance } from './issue.ts'
import type { CredentialRecord } from './credential-record.ts'
import { revocation } from './revoke.ts'
import { listCredentials } from './store.ts'
import { wireCredential } from './view.ts'

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
      const requester = { ...request, caller }
      // Decisions have not read a new credential before, unless it is rotated.
      return body.rotate
        ? writer.change(caller.orgId, requester, issue)
        : writer.work(caller.orgId, requester, issue)
    },

    revokeCredential: ({ params }, caller, request) =>
      writer.change(caller.orgId, { ...request, caller }, revocation(params.credID)),

    introspectCredential: async ({ body: { token } }, { orgId }) => {
      const credential = isAgentText(token) ? await directory.look(token) : null
      return credential?.orgId === orgId ? introspected(credential) : { active: false }
    },

    revokeByText: async ({ body: { token } }, caller) => {
      const id = await revocable(directory, caller, token)
      if (id === null) return {}
      try {
        const requester = { caller, claim: null, wantsNote: false, whileSuspended: true }
        await writer.change(caller.orgId, requester, revocation(id))
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
