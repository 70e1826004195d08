import { hash, randomBytes } from 'node:crypto'
import type { Plan, Role } from '@remit/contract'
import { parse, serialize } from 'hono/utils/cookie'
import { isoTime } from '../base/clock.ts'
import type { Clock } from '../base/clock.ts'
import { fail } from '../base/errors.ts'
import { sessionOf } from '../caller/caller.ts'
import type { Caller, PersonPrincipal, Principal } from '../caller/caller.ts'
import type { Db } from '../db/open.ts'
import type { SessionRow } from '../db/schema.ts'
import { lowerPlan } from '../keys/authenticator.ts'
import { findSessions, insertSession, touchSession } from './store.ts'
import type { SessionHolder } from './store.ts'

/** A secret, and the organization: it places the session where tables are distributed. */
const COOKIE = /^[\w-]{43}\.(\w+)$/

export interface SessionSettings {
  /** False: nobody signs in with a key. */
  readonly keyLogin: boolean
  /** Null where a session would not be safe; asked again as the port may be known later. */
  place(): ConsolePlace | null
}

/** The holder of a new session: a key, or a person as of the sign-in. */
export type NewHolder =
  | { readonly keyId: string }
  | (Pick<PersonPrincipal, 'id' | 'role' | 'name'> & { readonly email: string })

/** Resolves cookies to callers. A session is read on every call, so that it can end at once. */
export class Sessions {
  readonly settings: SessionSettings
  readonly #db: Db
  readonly #ceiling: Plan
  readonly #clock: Clock

  /** `ceiling` is the plan of the license; it caps the plan of every caller. */
  constructor(db: Db, ceiling: Plan, clock: Clock, settings: SessionSettings) {
    this.#db = db
    this.#ceiling = ceiling
    this.#clock = clock
    this.settings = settings
  }

  /** The place of the console; throws `key_login_off` where a session would not be safe. */
  get place(): ConsolePlace {
    const place = this.settings.place()
    if (!place)
      throw fail(
        'key_login_off',
        'Set REMIT_BASE_URL to the https URL of this server to sign in from other machines',
      )
    return place
  }

  /** Begins a session, in the transaction of its record if there is one; returns its cookie. */
  async begin(orgId: string, holder: NewHolder, db: Db = this.#db): Promise<string> {
    const cookie = `${randomBytes(32).toString('base64url')}.${orgId}`
    const now = isoTime(this.#clock.now())
    const times = { created_at: now, seen_at: now }
    await insertSession(db, { ...rowOf(holder), hash: hashOf(cookie), org_id: orgId, ...times })
    return cookie
  }

  /** Returns the caller of a cookie; null if its session has ended or never was. */
  async authenticate(cookie: string): Promise<Caller | null> {
    const orgId = COOKIE.exec(cookie)?.[1]
    if (orgId === undefined) return null
    const now = this.#clock.now()
    const [holder] = await findSessions(this.#db, orgId, [hashOf(cookie)], now)
    if (!holder) return null
    await touchSession(this.#db, holder, now)
    return this.#callerOf(holder)
  }

  /**
   * Returns the callers of sessions of one organization at `now` by their session, inside a transaction; null for a
   * session that has ended. This is not a request: it does not prolong a session.
   */
  async recheck(
    db: Db,
    callers: readonly Caller[],
    now: number,
  ): Promise<Map<string, Caller | null>> {
    const ids = callers.flatMap(({ principal }) => sessionOf(principal) ?? [])
    const checked = new Map<string, Caller | null>(ids.map((id) => [id, null]))
    const [first] = callers
    if (first === undefined || ids.length === 0) return checked
    for (const holder of await findSessions(db, first.orgId, [...checked.keys()], now))
      checked.set(holder.hash, this.#callerOf(holder))
    return checked
  }

  /** Returns the caller of a session as the database has it now; null if it has ended. */
  async find(caller: Caller): Promise<Caller | null> {
    const found = await this.recheck(this.#db, [caller], this.#clock.now())
    return found.get(sessionOf(caller.principal) ?? '') ?? null
  }

  #callerOf(holder: SessionHolder): Caller {
    return {
      orgId: holder.org_id,
      plan: lowerPlan(this.#ceiling, holder.plan),
      principal: principalOf(holder),
      configVersion: holder.configVersion,
    }
  }
}

/** 256 random bits need no slow hash, and a hash is no cookie. */
const hashOf = (cookie: string): string => hash('sha256', cookie, 'hex')

function rowOf(holder: NewHolder): Omit<SessionRow, 'hash' | 'org_id' | 'created_at' | 'seen_at'> {
  if ('keyId' in holder)
    return { key_id: holder.keyId, person_id: null, role: null, email: null, name: null }
  const { id, role, email, name } = holder
  return { key_id: null, person_id: id, role, email, name }
}

function principalOf({ hash: session, ...row }: SessionHolder): Principal {
  if (row.key_id !== null) {
    const role = row.keyRole as Role
    return { type: 'key', id: row.key_id, role, person: row.keyPerson, session }
  }
  const { person_id: id, role, email: person, name } = row
  if (id === null || person === null) throw new Error('the session has no holder')
  return { type: 'person', id, role: role as PersonPrincipal['role'], person, name, session }
}

/** The address of the console as browsers know it. */
export interface ConsolePlace {
  /** Origins whose pages may send requests with the cookie. The first one is the console's own. */
  readonly origins: readonly string[]
  readonly cookie: string
  /** False only on plain HTTP. */
  readonly isSecure: boolean
}

const LOOPBACK = new Set(['localhost', '127.0.0.1', '::1'])

/** Returns true for a name or address of this machine alone. */
export const isLoopback = (host: string): boolean => LOOPBACK.has(host)

/**
 * Returns the place of the console. The base URL decides, never a socket or `Host`, which a proxy or
 * a client chooses. Null without a base URL on an address that other machines reach: a cookie would
 * cross the network in plain text.
 */
export function consolePlace(
  baseUrl: string | undefined,
  host: string,
  port: number,
): ConsolePlace | null {
  if (baseUrl === undefined) {
    if (!isLoopback(host)) return null
    const origins = ['localhost', '127.0.0.1', '[::1]'].map((name) => `http://${name}:${port}`)
    return { origins, cookie: cookieAt(port), isSecure: false }
  }
  const { origin, protocol, port: own } = new URL(baseUrl)
  return protocol === 'https:'
    ? { origins: [origin], cookie: '__Host-remit_session', isSecure: true }
    : { origins: [origin], cookie: cookieAt(Number(own || 80)), isSecure: false }
}

/** Cookies do not distinguish ports, so that two servers on one machine need two names. */
const cookieAt = (port: number): string => `remit_session_${port}`

/** The headers of a request by their lower-case names. */
export type ReadHeader = (name: string) => string | undefined

/**
 * Refuses a request that a page of another origin may have sent (cross-site request forgery).
 * Browsers set `Sec-Fetch-Site`, and pages cannot; where it is absent, as on plain HTTP, `Origin`
 * decides. Throws `csrf_refused`.
 */
export function requireSameOrigin(header: ReadHeader, { origins }: ConsolePlace): void {
  const site = header('sec-fetch-site')
  const isOwn =
    site === undefined ? origins.includes(header('origin') ?? '') : site === 'same-origin'
  if (!isOwn)
    throw fail(
      'csrf_refused',
      'Send Sec-Fetch-Site: same-origin, or, where a client cannot send that header, Origin with the address of this server',
    )
}

type CookiePlace = Pick<ConsolePlace, 'cookie' | 'isSecure'>

/** Returns a cookie of a `Cookie` header; undefined without one. */
export const readCookie = (header: string, { cookie }: CookiePlace): string | undefined =>
  parse(header, cookie)[cookie]

/** Returns the `Set-Cookie` header of a cookie; without a value, of its removal. */
export const writeCookie = ({ cookie, isSecure }: CookiePlace, value: string | null): string =>
  serialize(cookie, value ?? '', {
    httpOnly: true,
    secure: isSecure,
    sameSite: 'Lax',
    path: '/',
    ...(value === null && { maxAge: 0 }),
  })
