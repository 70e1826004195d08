import { hash } from 'node:crypto'
import { RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import { LRUCache } from 'lru-cache'
import { createClient } from '@remit/sdk/node'
import { parseStrictJson, StrictJsonError } from '@remit/contract/json'
import { isMembers } from '../rpc/members.ts'
import type { Members } from '../rpc/members.ts'
import { missingScope, scopesIn } from './rights.ts'

/** The caller of the gateway: an agent, and how Remit knows it. */
export interface Caller {
  /** The same for all credentials of the agent, and of the person for whom it acts. */
  readonly id: string
  readonly agentId: string
  /** With which the gateway asks Remit about calls of this caller. */
  readonly key: string
  /** The subject of an OAuth token. */
  readonly actingFor: string | undefined
}

/** A request whose credential is missing or refused. */
export class Unauthorized extends Error {
  /** The error code of RFC 6750, absent where no credential was sent. */
  readonly code: 'invalid_token' | 'insufficient_scope' | undefined
  readonly scope: string | undefined
  constructor(message: string, code?: Unauthorized['code'], scope?: string) {
    super(message)
    this.code = code
    this.scope = scope
  }
}

/** Remit cannot say who the caller is. */
export class Unavailable extends Error {}

/** A credential that was refused after too many others. */
export class Busy extends Error {}

const callerOf = (agentId: string, key: string, actingFor?: string): Caller => ({
  id: JSON.stringify([agentId, actingFor ?? null]),
  agentId,
  key,
  actingFor,
})

interface CallersOptions {
  /** Address and key of Remit. */
  readonly url: string
  readonly key: string
  /** The agent of calls with an ingest key. */
  readonly agent: string | undefined
  readonly acceptsTokens: boolean
  /** The results of tools are checked, for which callers need the scope `guard`. */
  readonly hasGuard: boolean
}

/** Milliseconds for which a credential is not asked about again; each decision checks it anyway. */
const MAX_AGE_MS = 30_000
const MAX_CALLERS = 10_000
/** Refused credentials in a minute that are told so; further ones are told to wait. */
const MAX_REFUSED = 20
const REMIT_SECRET = /^rm[ckf]_[0-9A-Za-z]{65}$/

/** Finds out who calls, from the header `Authorization`. */
export class Callers {
  readonly #options: CallersOptions
  readonly #client: Client
  readonly #known = new LRUCache<string, Identified>({ max: MAX_CALLERS })
  readonly #asking = new Map<string, Promise<Identified>>()
  #refusals: number[] = []
  #organizationId: string | null = null

  constructor(options: CallersOptions) {
    this.#options = options
    this.#client = createClient({ baseUrl: options.url, key: options.key })
  }

  /** Throws `Unauthorized`, or `Unavailable` and `Busy` where it is not known who calls. */
  async identify(authorization: string | undefined, resource: string): Promise<Caller> {
    const [, secret] = /^Bearer +([\w.~+/-]+=*)$/i.exec(authorization ?? '') ?? []
    if (authorization === undefined) throw new Unauthorized('A credential is required.')
    if (secret === undefined)
      throw new Unauthorized('Authorization: must be "Bearer" and a credential.', 'invalid_token')
    const id = hash('sha256', `${resource} ${secret}`, 'base64')
    const known = this.#known.get(id)
    if (known && known.until > Date.now()) return known.caller
    const asking = this.#asking.get(id) ?? this.#ask(id, secret, resource)
    return (await asking).caller
  }

  #ask(id: string, secret: string, resource: string): Promise<Identified> {
    const asked = this.#identified(secret, resource).finally(() => this.#asking.delete(id))
    this.#asking.set(id, asked)
    asked.then(
      (identified) => this.#known.set(id, identified),
      () => undefined,
    )
    return asked
  }

  async #identified(secret: string, resource: string): Promise<Identified> {
    const { url, agent, acceptsTokens, hasGuard } = this.#options
    const isOfRemit = REMIT_SECRET.test(secret)
    if (!isOfRemit && !acceptsTokens)
      throw new Unauthorized('The credential is not one of Remit.', 'invalid_token')
    const organizationId = await this.#ownOrganization()
    try {
      return isOfRemit
        ? {
            caller: await presented(url, organizationId, secret, agent, hasGuard),
            until: Date.now() + MAX_AGE_MS,
          }
        : await exchanged(this.#client, secret, resource, hasGuard)
    } catch (error) {
      if (error instanceof Unauthorized) throw error
      if (isLimit(error)) throw new Busy('Remit takes no further credentials for now.')
      if (!isRefusal(error)) throw new Unavailable('Remit cannot be reached.', { cause: error })
      throw this.#refused()
    }
  }

  /** Limits those who guess. Each credential is checked, so that a good one is never limited by them. */
  #refused(): Busy | Unauthorized {
    const now = Date.now()
    this.#refusals = this.#refusals.filter((at) => now - at < 60_000)
    if (this.#refusals.length >= MAX_REFUSED)
      return new Busy('Too many credentials were refused; try again in a minute.')
    this.#refusals.push(now)
    return new Unauthorized('Remit refused the credential.', 'invalid_token')
  }

  /** The organization of the gateway's own key. */
  async #ownOrganization(): Promise<string> {
    if (this.#organizationId !== null) return this.#organizationId
    const session = await this.#client.getSession().catch((cause: unknown) => {
      const isOwnKey = isRefusal(cause)
      throw new Unavailable(
        isOwnKey ? 'Remit refused the key of the gateway.' : 'Remit cannot be reached.',
        { cause },
      )
    })
    this.#organizationId = session.organization?.id ?? null
    if (this.#organizationId === null) throw new Unavailable('The gateway has no organization.')
    return this.#organizationId
  }
}

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const MAX_TOKEN = 16 * 1024

/** A caller, and until when it is known, in milliseconds. */
interface Identified {
  readonly caller: Caller
  readonly until: number
}

/**
 * Exchanges an OAuth token for a credential of the agent to which Remit maps it (RFC 8693). The token must
 * be for this resource (RFC 8707): Remit checks its signature and issuer, but has other audiences too.
 */
async function exchanged(
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
async function presented(
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
const isRefusal = (error: unknown): boolean =>
  error instanceof RemitError && [400, 401, 403, 404].includes(error.status)

/** True where Remit says that it was asked too often. */
const isLimit = (error: unknown): boolean => error instanceof RemitError && error.status === 429
