import { session as group } from '@remit/contract'
import type { Session } from '@remit/contract'
import { fail } from '../base/errors.ts'
import { sessionOf } from '../caller/caller.ts'
import type { Caller, Principal } from '../caller/caller.ts'
import type { Database } from '../db/open.ts'
import type { CoreTables } from '../db/schema.ts'
import type { Authenticator } from '../keys/authenticator.ts'
import { recording } from '../ledger/write/work.ts'
import type { Change } from '../ledger/write/work.ts'
import type { Writer } from '../ledger/write/writer.ts'
import { findOrganizationById } from '../orgs/administration.ts'
import { writeCookie } from '../sessions/sessions.ts'
import type { PeopleSessions } from '../sessions/people.ts'
import type { Sessions } from '../sessions/sessions.ts'
import { deleteSession } from '../sessions/store.ts'
import type { FailedKeys, RateLimit } from './limits.ts'
import { mayCall } from './admit.ts'
import { implement, Reply } from './endpoint.ts'
import type { Route } from './endpoint.ts'

/** The period of a license; times are RFC 3339. */
export interface LicensePeriod {
  readonly expiresAt: string
  /** End of the grace period: a later start does not load the modules. */
  readonly graceEndsAt: string
}

export interface SessionRouteDeps {
  readonly db: Database<CoreTables>
  readonly authenticator: Authenticator
  readonly sessions: Sessions
  /** Null without a module that knows people. */
  readonly people: PeopleSessions | null
  readonly failedKeys: FailedKeys | null
  readonly rateLimit: RateLimit | null
  readonly writer: Writer
  readonly edition: Session['edition']
  readonly evaluation: boolean
  /** Null where nobody has to renew one. */
  readonly license: LicensePeriod | null
  /** The routes of this server, known when all modules are. */
  readonly routes: () => readonly Route[]
}

/** `/v1/session`: sign-in with a key, and the answer to "who am I, and what may I do here?". */
export const sessionRoutes = (deps: SessionRouteDeps): Route[] => {
  const { db, sessions, writer, people } = deps
  const endpointsOf = endpointLists(deps.routes)
  return implement(group, {
    getSession: async (_, caller) => ({
      principal: caller && shown(caller.principal),
      organization: caller && (await organizationOf(db, caller)),
      edition: deps.edition,
      evaluation: deps.evaluation,
      license: caller && licenseFor(caller, deps),
      endpoints: endpointsOf(caller),
      login: {
        key: sessions.settings.keyLogin && sessions.settings.place() !== null,
        ...(people && sessions.settings.place()
          ? { oidc: people.login, organizations: await people.hasOrganizationLogins() }
          : { oidc: null, organizations: false }),
      },
    }),

    startSession: async ({ body }, _caller, request) => {
      const { place, settings } = sessions
      if (!settings.keyLogin)
        throw fail('key_login_off', 'This server accepts no keys for sign-in: use single sign-on')
      const { orgId, principal } = await keyOf(body.key, request.address(), deps)
      await deps.rateLimit?.take(principal.id)
      const cookie = await sessions.begin(orgId, { keyId: principal.id })
      return new Reply(undefined, { headers: { 'Set-Cookie': writeCookie(place, cookie) } })
    },

    endSession: async (_, caller) => {
      const hash = caller && sessionOf(caller.principal)
      if (caller && hash !== undefined && hash !== null)
        await writer.work(caller.orgId, OF_NOBODY, signOut(hash, caller, people))
      const place = sessions.settings.place()
      const location = caller?.principal.type === 'person' ? await people?.signOutUrl(caller) : null
      return new Reply(undefined, {
        headers: {
          ...(place && { 'Set-Cookie': writeCookie(place, null) }),
          ...(location && { Location: location }),
        },
      })
    },
  })
}

/** The session ends even if its holder has lost all rights meanwhile. */
const OF_NOBODY = { caller: null, claim: null, wantsNote: false }

/** Under the lock of the ledger: work that commits after this answer finds the session ended. */
const signOut =
  (hash: string, caller: Caller, people: PeopleSessions | null): Change<void> =>
  async ({ tx }) => {
    await deleteSession(tx, caller.orgId, hash)
    const entry = caller.principal.type === 'person' ? people?.signedOut(caller) : undefined
    return recording(...(entry ? [entry] : []))
  }

/** Returns the caller of an ingest key; a wrong key counts against its address. */
async function keyOf(
  key: string,
  address: string | undefined,
  { authenticator, failedKeys }: SessionRouteDeps,
): Promise<Caller> {
  try {
    const caller = await authenticator.authenticate(`Bearer ${key}`)
    if (caller.principal.type === 'key') return caller
    throw fail('unauthorized', 'Sign in with an ingest key, not with the credential of an agent')
  } catch (error) {
    if (isWrongKey(error) && address !== undefined) await failedKeys?.take(address)
    throw error
  }
}

const isWrongKey = (error: unknown): boolean =>
  (error as { code?: string } | null)?.code === 'unauthorized'

async function organizationOf(
  db: Database<CoreTables>,
  { orgId, plan }: Caller,
): Promise<Session['organization']> {
  const { id, name } = await findOrganizationById(db, orgId)
  return { id, name, plan }
}

/** Returns the endpoints of a caller; one list for all callers of a plan with the same rights. */
function endpointLists(routes: () => readonly Route[]): (caller: Caller | null) => string[] {
  const lists = new Map<string, string[]>()
  return (caller) => {
    const rights = caller === null ? '' : `${caller.plan} ${rightsOf(caller.principal)}`
    const known = lists.get(rights)
    if (known) return known
    const list = routes()
      .filter(({ endpoint }) =>
        caller
          ? mayCall(endpoint, caller)
          : (endpoint.public === true && !endpoint.operator) || endpoint.keyless === 'always',
      )
      .map(({ endpoint: { method, path } }) => `${method} ${path}`)
      .toSorted()
    if (lists.size < MOST_LISTS) lists.set(rights, list)
    return list
  }
}

/** Scopes can be combined in hundreds of ways; few of them are used. */
const MOST_LISTS = 200

/** Everything that `mayCall` reads of a principal. */
const rightsOf = (principal: Principal): string =>
  principal.type === 'credential'
    ? `credential ${principal.scopes.join(' ')}`
    : `${principal.role} ${sessionOf(principal) === undefined ? 'key' : 'session'}`

function licenseFor(
  { principal }: Caller,
  { license }: Pick<SessionRouteDeps, 'license'>,
): Session['license'] {
  if (!license || principal.type === 'credential' || principal.role !== 'admin') return null
  return { expires_at: license.expiresAt, grace_ends_at: license.graceEndsAt }
}

function shown(principal: Principal): Session['principal'] {
  if (principal.type === 'credential')
    return { type: 'agent', id: principal.agentId, name: null, email: null, role: null }
  const { type, id, role, person: email } = principal
  return { type, id, name: principal.type === 'person' ? principal.name : null, email, role }
}
