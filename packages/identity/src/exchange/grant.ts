import { ACCESS_TOKEN_TYPE, SCOPES, SUBJECT_TOKEN_TYPES } from '@remit/contract'
import type { Actor, TokenAnswer, TokenRequest, Scope } from '@remit/contract'
import type { EntryDraft, LedgerScope } from '@remit/core/ledger/lanes'
import { eachPart } from '@remit/core/db'
import type { AnyDatabase } from '@remit/core/db'
import { fail, invalid } from '@remit/core/base'
import type { Deps } from '@remit/core/module'
import { settingsOf } from '@remit/core/orgs/settings'
import type { Hasher } from '../credentials/hasher.ts'
import { mint } from '../credentials/mint.ts'
import { wireCredential } from '../credentials/store.ts'
import { TOKEN_PATH } from '../issuers/routes.ts'
import { findIssuer, findOrganizations } from '../issuers/store.ts'
import { isAtLimit } from '../credentials/limits.ts'
import { TokenRefusal } from './refusals.ts'
import { digest, takeOnce, useOf } from './token-uses.ts'
import type { Verified } from './verify.ts'
import { findAgent, findAgentOfSubject } from '../agents/store.ts'
import { allowedScopes } from '../agents/view.ts'
import { audiencesOf, issuerOf, readSubjectToken } from './subject-token.ts'

/** The result of an exchange: the response and its entries. */
export interface ExchangeResult {
  readonly answer: TokenAnswer
  readonly entries: readonly EntryDraft[]
}

interface Granting {
  readonly by: Actor
  /** The server's base URL; null if it is unknown. */
  readonly server: string | null
  readonly hasher: Hasher
}

/**
 * Exchanges a verified token, with issuer and agent from the transaction. Throws `TokenRefusal` before
 * it writes anything, since the entry of the refusal commits in the same transaction.
 */
export async function grant(
  scope: LedgerScope,
  verified: Verified,
  request: TokenRequest,
  { by, server, hasher }: Granting,
): Promise<ExchangeResult> {
  const { tx, orgId, now, recordedAt } = scope
  const { issuer, facts, agentId, signed } = verified
  const { id: idpId, terms } = issuer
  if (!(await findIssuer(tx, orgId, idpId)))
    throw new TokenRefusal('iss', { iss: issuer.issuer }, { iss: 'a trusted issuer' })
  const agent = await findFederated(tx, { orgId, idpId, subject: facts.subject, agentId })
  if (request.agent_id !== undefined && request.agent_id !== agent.agentId)
    throw new TokenRefusal(
      'agent_mismatch',
      { agent_id: request.agent_id },
      { agent_id: agent.agentId },
    )
  const { audience, resource } = request
  const isOurs = (name: string) =>
    terms.audiences.includes(name) || withoutSlash(name) === `${server}${TOKEN_PATH}`
  const { audiences } = terms
  if (audience !== undefined && !isOurs(audience))
    throw new TokenRefusal('target', { audience }, { audiences })
  // The base URL is a resource (RFC 8707 §2), but not an audience.
  if (resource !== undefined && !isOurs(resource) && withoutSlash(resource) !== server)
    throw new TokenRefusal('target', { resource }, { audiences, resource: server })
  const scopes = scopesFor(request.scope, terms.scopes, agent.allowedScopes)
  if (!scopes)
    throw new TokenRefusal(
      'scope',
      { scope: request.scope },
      { scopes: terms.scopes.filter((one) => agent.allowedScopes.includes(one)) },
    )
  const expiresAt = endOf(verified, agent, now)
  if (expiresAt <= now) throw new TokenRefusal('exp')
  if (await isAtLimit(scope, agent.agentId)) throw new TokenRefusal('limit')
  if (!(await takeOnce(scope, useOf(issuer.issuer, facts, terms, signed, now))))
    throw new TokenRefusal(terms.replay === 'until_exp' ? 'subject_rate' : 'jti_reused')
  const { row, secret } = await mint(scope, hasher, {
    agentId: agent.agentId,
    scopes,
    expiresAt,
    issuedBy: by.id,
    exchange: { idpId, subject: facts.subject },
  })
  const data = {
    idp_id: idpId,
    issuer: issuer.issuer,
    subject: facts.subject,
    ...(facts.jti !== null && { jti_hash: digest(facts.jti) }),
  }
  return {
    answer: {
      access_token: secret,
      issued_token_type: ACCESS_TOKEN_TYPE,
      token_type: 'Bearer',
      expires_in: Math.floor((expiresAt - now) / 1000),
      scope: scopes.join(' '),
      credential_id: row.id,
      agent_id: agent.agentId,
    },
    entries: [
      {
        kind: 'token.exchanged',
        actor: by,
        agent_id: agent.agentId,
        data: { ...data, credential_id: row.id, scopes, expires_at: row.expires_at },
      },
      {
        kind: 'credential.issued',
        actor: by,
        agent_id: agent.agentId,
        data: { credential: wireCredential(row, recordedAt) },
      },
    ],
  }
}

/** A URL, normalized and without a final slash; undefined for other text. */
const withoutSlash = (name: string): string | undefined => URL.parse(name)?.href.replace(/\/$/, '')

/** The earliest end that the issuer's record, the agent and the token allow; milliseconds. */
function endOf(
  { issuer, facts }: Verified,
  { maxTtlSeconds }: FederatedAgent,
  now: number,
): number {
  const seconds = Math.min(issuer.terms.credential_ttl_seconds, maxTtlSeconds ?? Infinity)
  return Math.min(now + seconds * 1000, Math.floor(facts.expiresAt * 1000))
}

interface FederatedAgent {
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
async function findFederated(
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

/** The grammar of RFC 6749 §3.3: printable ASCII without `"` and `\`, separated by single spaces. */
const SCOPE = /^[!#-[\]-~]+( [!#-[\]-~]+)*$/
const SCOPE_FORM =
  'must be scopes of printable ASCII without quotation marks and backslashes, separated by single spaces'

const SUBJECT_TYPES: ReadonlySet<string> = new Set(SUBJECT_TOKEN_TYPES)

/** Refuses requests other than the supported token exchange (RFC 8693 §2.1, §2.2.2). */
export function checkRequest(request: TokenRequest): void {
  if (!SUBJECT_TYPES.has(request.subject_token_type))
    throw invalid('subject_token_type', `must be one of ${SUBJECT_TOKEN_TYPES.join(', ')}`)
  const { requested_token_type: type = ACCESS_TOKEN_TYPE } = request
  if (type !== ACCESS_TOKEN_TYPE)
    throw invalid('requested_token_type', `must be ${ACCESS_TOKEN_TYPE}`)
  if (request.scope !== undefined && !SCOPE.test(request.scope))
    throw fail('invalid_scope', `scope: ${SCOPE_FORM}`, {
      errors: [{ path: 'scope', message: SCOPE_FORM }],
    })
  // Ignoring it would create a credential with less information than requested.
  if (request.actor_token !== undefined) throw invalid('actor_token', 'is not supported')
}

/**
 * The scopes of a credential: the requested ones, or all available ones. Null if a requested one is
 * not available; none is dropped silently.
 */
function scopesFor(
  asked: string | undefined,
  byIssuer: readonly Scope[],
  byAgent: readonly Scope[],
): Scope[] | null {
  const available = SCOPES.filter((scope) => byIssuer.includes(scope) && byAgent.includes(scope))
  if (asked === undefined) return available.length > 0 ? available : null
  const names = new Set(asked.split(' '))
  const granted = available.filter((scope) => names.has(scope))
  return granted.length === names.size ? granted : null
}

const MAX_AUDIENCES = 10

/** A client that names its organization, which is a public client of it (RFC 6749 §2.1). */
const isOrganization = (clientId: string | undefined): clientId is string =>
  clientId?.startsWith('org_') === true

/**
 * The organization of a token without an ingest key: the only one that trusts the issuer for one of
 * its audiences and allows keyless exchange, or the one of those that `client_id` names. Null if there
 * is none or several.
 */
export async function organizationOf(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  { subject_token: subjectToken, client_id: clientId }: TokenRequest,
): Promise<string | null> {
  try {
    const { claims } = readSubjectToken(subjectToken)
    const issuer = issuerOf(claims)
    const audiences = audiencesOf(claims)
    if (!audiences || audiences.length > MAX_AUDIENCES) throw new TokenRefusal('aud')
    const parts = await eachPart(
      db,
      (part) => findOrganizations(db, part, issuer, audiences),
      (error, organizations) =>
        log.warn({ err: error, organizations }, 'reading trusted issuers failed'),
    )
    const [found, ...others] = parts
      .flat()
      .filter((row) => row.plan === 'enterprise' && settingsOf(row).keyless_exchange)
      // Any organization can trust the issuer of another one for the same audience.
      .filter((row) => !isOrganization(clientId) || row.id === clientId)
    if (!found || others.length > 0) throw new TokenRefusal('iss')
    return found.id
  } catch (error) {
    if (!(error instanceof TokenRefusal)) throw error
    // No organization, so no ledger to write to.
    log.info({ reason: error.reason }, 'a token exchange without a key was refused')
    return null
  }
}
