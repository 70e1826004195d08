import type { Endpoint } from '@remit/contract'
import type { Context } from 'hono'
import { Failure, fail } from '../base/errors.ts'
import { reaches } from '../keys/authenticator.ts'
import type { Authenticator } from '../keys/authenticator.ts'
import { sessionOf } from '../caller/caller.ts'
import type {
  Caller,
  CredentialPrincipal,
  KeyPrincipal,
  PersonPrincipal,
} from '../caller/caller.ts'
import type { FailedKeys, RateLimit } from './limits.ts'
import { readCookie } from '../sessions/sessions.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { formFault, parseKey } from '../keys/key-text.ts'
import { readFields } from './body.ts'
import { headerOf } from './header.ts'

export interface AdmissionDeps {
  readonly authenticator: Authenticator
  readonly sessions: Sessions
  /** Null where requests are not limited. */
  readonly rateLimit: RateLimit | null
  /** Null if invalid keys are not limited. */
  readonly failedKeys: FailedKeys | null
}

const NO_LIMITS = {}

/**
 * Finds the caller of a request, in memory where the writer checks it again; throws `unauthorized`. A wrong
 * key counts against `address`, that of the client, where it is known; a good key is never limited by that.
 */
export async function authenticate(
  endpoint: Endpoint,
  presented: PresentedKey,
  address: () => string | undefined,
  deps: AdmissionDeps,
): Promise<Admission> {
  const { header } = presented
  const mayRecall = endpoint.viaWriter && header !== undefined
  const recalled = mayRecall ? deps.authenticator.recall(header) : null
  if (recalled) return new Admission(endpoint, presented, deps, recalled, true)
  try {
    const caller = await callerFromDatabase(presented, deps)
    return new Admission(endpoint, presented, deps, caller, false)
  } catch (error) {
    // A failure of the database says nothing about the key.
    const isWrong =
      error instanceof Failure && error.code === 'unauthorized' && header !== undefined
    const from = isWrong ? address() : undefined
    if (from !== undefined) await deps.failedKeys?.take(from)
    throw error
  }
}

/**
 * The admission of one request. A caller from memory alone never causes a refusal, because the key, the
 * plan or the role may have changed.
 */
export class Admission {
  readonly #endpoint: Endpoint
  readonly #presented: PresentedKey
  readonly #deps: AdmissionDeps
  readonly #isRecalled: boolean
  /** As last found. */
  caller: Caller
  /** The `RateLimit` headers of the answer. */
  limits: Readonly<Record<string, string>>

  constructor(
    endpoint: Endpoint,
    presented: PresentedKey,
    deps: AdmissionDeps,
    caller: Caller,
    isRecalled: boolean,
  ) {
    this.#endpoint = endpoint
    this.#presented = presented
    this.#deps = deps
    this.#isRecalled = isRecalled
    this.caller = caller
    this.limits = NO_LIMITS
  }

  /**
   * Counts the request, and refuses a caller whose plan or role does not reach the endpoint. Throws
   * `rate_limited` and the refusals of plan, role and scope.
   */
  async admit(): Promise<void> {
    const { rateLimit } = this.#deps
    if (rateLimit) this.limits = await rateLimit.take(this.caller.principal.id)
    try {
      requirePlanAndRole(this.#endpoint, this.caller)
    } catch (refusal) {
      if (!this.#isRecalled) throw refusal
      await this.recheck()
    }
  }

  /**
   * Returns true if the request may run once more, because the writer found that the rights of the
   * caller had changed. Throws the refusal if they no longer suffice.
   */
  async mayRunAgain(error: unknown): Promise<boolean> {
    const changed = error instanceof Failure && error.code === 'unauthorized'
    if (!changed || !this.#endpoint.viaWriter) return false
    await this.recheck()
    return true
  }

  /** Throws the refusal of a caller from memory that has ended: it must not learn another one. */
  async confirm(): Promise<void> {
    if (this.#isRecalled) await this.recheck()
  }

  /** Charges `more` additional requests; throws `rate_limited`. */
  async charge(more: number): Promise<void> {
    const { rateLimit } = this.#deps
    if (rateLimit && more > 0) this.limits = await rateLimit.charge(this.caller.principal.id, more)
  }

  /** Finds the caller as the database has it now; throws the refusal. */
  async recheck(): Promise<void> {
    const caller = await callerFromDatabase(this.#presented, this.#deps, this.caller)
    requirePlanAndRole(this.#endpoint, caller)
    this.caller = caller
  }
}

/**
 * Looks the caller up. With the caller `known` it is a second look, which is no request of a person and
 * does not prolong the session.
 */
async function callerFromDatabase(
  { header, session, client }: PresentedKey,
  { authenticator, sessions }: AdmissionDeps,
  known?: Caller,
): Promise<Caller> {
  if (session !== undefined) {
    const caller = await (known ? sessions.find(known) : sessions.authenticate(session))
    if (caller) return caller
    throw fail('unauthorized', 'The session has ended; sign in again', {
      headers: { 'WWW-Authenticate': 'Bearer realm="remit"' },
    })
  }
  try {
    return await authenticator.authenticate(header)
  } catch (error) {
    throw client ? clientRefusal(error, header, client) : error
  }
}

/**
 * Rejects a caller whose plan is below the tier of the endpoint, or whose role or scopes are not
 * sufficient.
 */
function requirePlanAndRole(endpoint: Endpoint, { plan, principal }: Caller): void {
  if (!reaches(plan, endpoint.plan)) {
    throw fail(
      'plan_required',
      `This endpoint requires the ${endpoint.plan} plan; the organization has ${plan}`,
      {
        extensions: { required_plan: endpoint.plan },
      },
    )
  }
  if (endpoint.anyPrincipal) return
  if (principal.type === 'credential') requireScope(endpoint, principal)
  else requireRole(endpoint, principal)
}

function requireRole({ roles }: Endpoint, { type, role }: KeyPrincipal | PersonPrincipal): void {
  if (role === 'admin' || roles.includes(role)) return
  throw fail(
    'role_required',
    `This endpoint requires a ${type} with one of the roles ${['admin', ...roles].join(', ')}; this ${type} has ${role}`,
  )
}

/**
 * Returns true if a caller would be admitted. OAuth endpoints, which take forms, accept no session.
 */
export function mayCall(endpoint: Endpoint, caller: Caller): boolean {
  if (endpoint.operator) return false
  if (endpoint.form && sessionOf(caller.principal) !== undefined) return false
  try {
    requirePlanAndRole(endpoint, caller)
    return true
  } catch {
    return false
  }
}

/** An endpoint without a scope accepts only keys, regardless of the scopes of a credential. */
function requireScope({ scope }: Endpoint, { scopes }: CredentialPrincipal): void {
  if (scope === null) throw fail('principal_not_allowed')
  if (scopes.includes(scope)) return
  throw fail('insufficient_scope', `This endpoint requires the scope ${scope}`, {
    extensions: { required_scope: scope },
    headers: {
      'WWW-Authenticate': `Bearer realm="remit", error="insufficient_scope", scope="${scope}"`,
    },
  })
}

/** The authentication of a request. */
export interface PresentedKey {
  /** As an `Authorization: Bearer` header; undefined if nothing was sent. */
  readonly header: string | undefined
  /** The session's cookie; only without a key, and never at an OAuth endpoint. */
  readonly session?: string
  /** The body, if it had to be read for the authentication; its error is not reported yet. */
  readonly body?: Promise<Uint8Array>
  /** The authentication of an OAuth client: a refusal must name HTTP Basic where it was used (RFC 6749 §5.2). */
  readonly client?: 'basic' | 'other'
}

/** Matches no key. */
const NO_KEY = 'Bearer -'

/**
 * Returns the key of a request: `Authorization` or `X-API-Key`. Throws `invalid_request` for both: a
 * proxy may have checked the other one than we would.
 */
export function presentedKey(c: Context): string | undefined {
  const header = c.req.header('authorization')
  const key = headerOf(c, 'x-api-key')
  if (header !== undefined && key !== undefined) throw twoKeys('X-API-Key')
  return key === undefined ? header : `Bearer ${key}`
}

const twoKeys = (other: string): Failure =>
  fail('invalid_request', `The request has two keys: send Authorization or ${other}, not both`)

/** Returns the key of a request, or else the cookie of its session. */
export function presentedBy(c: Context, { settings }: Sessions): PresentedKey {
  const header = presentedKey(c)
  if (header !== undefined) return { header }
  const cookies = headerOf(c, 'cookie')
  const place = cookies === undefined ? null : settings.place()
  const session = place && readCookie(cookies ?? '', place)
  return { header, ...(session && { session }) }
}

/**
 * Returns the client authentication of an OAuth endpoint (RFC 6749 §2.3.1): Bearer,
 * `client_secret_basic` or `client_secret_post`, but one of them. `client_id` is the id of an ingest key
 * and `client_secret` the key.
 *
 * `read` reads the body; it is called at most once.
 */
export async function presentedByClient(
  c: Context,
  endpoint: Endpoint,
  read: () => Promise<Uint8Array>,
): Promise<PresentedKey> {
  const header = presentedKey(c)
  const body = read()
  const { client_id: id, client_secret: secret } = await body
    .then((bytes) => readFields(endpoint, c, bytes) as Readonly<Record<string, unknown>>)
    .catch((): Readonly<Record<string, unknown>> => ({}))
  if (header === undefined)
    return { header: secret === undefined ? undefined : bearer(id, secret), client: 'other', body }
  if (secret !== undefined) throw twoKeys('client_secret')
  if (!/^Basic(?: |$)/i.test(header)) return { header, client: 'other', body }
  const [, encoded] = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(header) ?? []
  return { header: encoded === undefined ? NO_KEY : fromBasic(encoded), client: 'basic', body }
}

const NO_CLIENT =
  'Send the id of a valid key as client_id and the key as client_secret, or the header Authorization: Bearer <key>'

/** Says to an OAuth client, in its terms, what a valid key is; returns other errors unchanged. */
function clientRefusal(
  error: unknown,
  header: string | undefined,
  client: 'basic' | 'other',
): unknown {
  if (!(error instanceof Failure) || error.code !== 'unauthorized') return error
  const basic = { 'WWW-Authenticate': 'Basic realm="remit", charset="UTF-8"' }
  const headers = client === 'basic' ? basic : (error.extras.headers ?? {})
  return fail('unauthorized', formFault(header) ?? NO_CLIENT, { headers })
}

const bearer = (id: unknown, secret: unknown): string =>
  typeof secret === 'string' && parseKey(secret)?.id === id ? `Bearer ${secret}` : NO_KEY

/** Both parts are form-encoded inside of Basic (RFC 6749 §2.3.1). */
function fromBasic(encoded: string): string {
  const [, id = '', secret = ''] =
    /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  try {
    return bearer(formDecoded(id), formDecoded(secret))
  } catch {
    return NO_KEY
  }
}

const formDecoded = (text: string): string => decodeURIComponent(text.replaceAll('+', ' '))
