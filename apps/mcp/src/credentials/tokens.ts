import { RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import { parseStrictJson, StrictJsonError } from '@remit/contract/json'
import { isMembers } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'
import { callerOf, Unauthorized } from './caller.ts'
import type { Caller } from './caller.ts'
import { missingScope, scopesIn } from './rights.ts'
import { createClient } from '@remit/sdk/node'

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const MAX_TOKEN = 16 * 1024

/** A caller, and until when it is known, in milliseconds. */
export interface Identified {
  readonly caller: Caller
  readonly until: number
}

/**
 * Exchanges an OAuth token for a credential of the agent to which Remit maps it (RFC 8693). The token must
 * be for this resource (RFC 8707): Remit checks its signature and issuer, but has other audiences too.
 */
export async function exchanged(
  client: Client,
  token: string,
  resource: string,
  hasGuard: boolean,
): Promise<Identified> {
  const claims = claimsOf(token)
  const audience = claims['aud']
  const isForUs = Array.isArray(audience) ? audience.includes(resource) : audience === resource
  if (!isForUs)
    throw new Unauthorized(
      `The token is not for ${resource}, which "aud" must name.`,
      'invalid_token',
    )
  const answer = await client.exchangeToken({
    body: {
      grant_type: GRANT,
      subject_token: token,
      subject_token_type: ACCESS_TOKEN,
      audience: resource,
    },
  })
  checkScopes(answer.scope.split(' '), hasGuard)
  const subject = claims['sub']
  return {
    caller: callerOf(
      answer.agent_id,
      answer.access_token,
      typeof subject === 'string' ? subject : undefined,
    ),
    until: Date.now() + answer.expires_in * 1000,
  }
}

/** The claims of a token, which nobody has verified yet. */
function claimsOf(token: string): Members {
  const [, payload = '', ...rest] = token.split('.')
  const refused = new Unauthorized(
    'The credential is neither one of Remit nor a token that it accepts.',
    'invalid_token',
  )
  if (token.length > MAX_TOKEN || rest.length !== 1) throw refused
  try {
    const claims = parseStrictJson(Buffer.from(payload, 'base64url'), { maxDepth: 8 })
    if (isMembers(claims)) return claims
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error
  }
  throw refused
}

/** The agent of a credential or of an ingest key, if it is one of the gateway's organization. */
export async function presented(
  url: string,
  organizationId: string,
  secret: string,
  agentOfKeys: string | undefined,
  hasGuard: boolean,
): Promise<Caller> {
  const session = await createClient({ baseUrl: url, key: secret }).getSession({ retries: 0 })
  const { organization, principal } = session
  // Rules of another organization must not open the servers of this one.
  if (!principal || organization?.id !== organizationId)
    throw new Unauthorized('The credential is of another organization.', 'invalid_token')
  if (principal.type === 'agent') {
    checkScopes(scopesIn(session), hasGuard)
    return callerOf(principal.id, secret)
  }
  if (agentOfKeys === undefined)
    throw new Unauthorized(
      'An ingest key acts for no agent: send a credential of the agent, or set "agent" in the configuration.',
      'invalid_token',
    )
  return callerOf(agentOfKeys, secret)
}

/** A guard that may not read results would flag every session. */
function checkScopes(scopes: readonly string[], hasGuard: boolean): void {
  const scope = missingScope(scopes, hasGuard)
  if (scope !== null)
    throw new Unauthorized(`The credential lacks the scope ${scope}.`, 'insufficient_scope', scope)
}

/** True where Remit refused a credential, and false where it could not tell. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof RemitError && [400, 401, 403, 404].includes(error.status)

/** True where Remit says that it was asked too often. */
export const isLimit = (error: unknown): boolean =>
  error instanceof RemitError && error.status === 429
