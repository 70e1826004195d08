import type { Ids } from '@remit/core/base'
import { endSessionsOf } from '@remit/core/keys'
import type { Sessions } from '@remit/core/keys'
import type { Change, EntryDraft, LedgerScope } from '@remit/core/ledger/lanes'
import type { PersonRole } from '@remit/contract'
import { SecretUnreadable } from '@remit/core/secrets'
import type { SecretBox } from '@remit/core/secrets'
import { toPerson } from '../people/changes.ts'
import {
  addressesOf,
  findByAddress,
  findBySubject,
  foldAddress,
  insertPerson,
  newPerson,
  updatePerson,
} from '../people/store.ts'
import type { PersonRow } from '../tables/people.ts'
import type { RefusalLog } from '../exchange/refusals.ts'
import type { Identity, Challenge } from './provider.ts'
import { domainOf, findOwnProvider } from './own/store.ts'
import type { LoginWay } from './ways.ts'

/** The cookie of a session, or the reason why there is none. */
export type SignedIn = { readonly cookie: string } | { readonly refused: string }

interface SignInDeps {
  readonly ids: Ids
  readonly sessions: Sessions
  readonly way: Pick<LoginWay, 'roleMap' | 'id' | 'domains'>
  /** Limits the entries of refusals: every account of the provider can cause them. */
  readonly refusals: RefusalLog
}

/** Signs an identity in to an organization, or records why not, in one transaction. */
export const signIn =
  ({ ids, sessions, way, refusals }: SignInDeps, identity: Identity): Change<SignedIn> =>
  async (scope) => {
    const { tx, orgId, now, recordedAt } = scope
    const refuse = (person: PersonRow | null, reason: string) =>
      refusal(identity, person, reason, refusals.admit(orgId, identity.issuer, now))
    const foreign = (await foreignWay(scope, way)) ?? foreignDomain(way, identity)
    // Before anybody is looked up: this identity says nothing about people of the organization.
    if (foreign !== null) return refuse(null, foreign)
    const before = await personFor(scope, identity)
    const role = way.roleMap ? roleOf(identity.groups, way.roleMap) : (before?.role ?? null)
    // Sessions keep the role of their sign-in.
    if (before && before.role !== role) await endSessionsOf(tx, orgId, before.id)
    const refused = refusalOf(identity, before, role)
    if (refused !== null || role === null)
      return refuse(before, refused ?? 'no group of the person has a role')
    const row = {
      ...withAddress(before ?? newcomer(scope, ids, identity), identity),
      role,
      name: identity.name ?? before?.name ?? null,
      status: 'active' as const,
      issuer: identity.issuer,
      subject: identity.subject,
      last_login_at: recordedAt,
    }
    await (before ? updatePerson(tx, row) : insertPerson(tx, row))
    const { id, email, name } = row
    const cookie = await sessions.begin(orgId, { id, role, name, email }, tx)
    const entry: EntryDraft = {
      kind: 'person.signed_in',
      actor: { type: 'person', id },
      data: { member: toPerson(row), issuer: identity.issuer },
    }
    return { entries: [entry], reply: () => ({ cookie }) }
  }

/** Issuer and subject identify a person; the address only the invitation of a new one. */
async function personFor(
  { tx, orgId }: LedgerScope,
  { issuer, subject, email }: Identity,
): Promise<PersonRow | null> {
  const [own] = await findBySubject(tx, orgId, issuer, subject)
  if (own) return own
  const invited = email === null ? [] : await findByAddress(tx, orgId, email)
  return invited.find((row) => isInvited(row, email)) ?? null
}

/** A former address may belong to somebody else now. */
export const isInvited = (
  row: Pick<PersonRow, 'subject' | 'email'>,
  email: string | null,
): boolean =>
  row.subject === null && email !== null && foldAddress(row.email) === foldAddress(email)

/** An organization accepts one provider, on the terms that are in force now. */
async function foreignWay(
  { tx, orgId }: LedgerScope,
  { id }: Pick<LoginWay, 'id'>,
): Promise<string | null> {
  const own = await findOwnProvider(tx, orgId)
  return (own?.id ?? null) === id ? null : 'the organization signs in with another provider'
}

function foreignDomain({ domains }: Pick<LoginWay, 'domains'>, { email }: Identity): string | null {
  if (domains === null) return null
  if (email === null) return 'the identity provider has not verified an e-mail address'
  return domains.has(domainOf(email) ?? '')
    ? null
    : 'the organization accepts no addresses of this domain'
}

function refusalOf(
  { email }: Identity,
  before: PersonRow | null,
  role: PersonRow['role'] | null,
): string | null {
  if (before?.status === 'disabled') return 'the person is disabled'
  if (email === null && before?.subject == null)
    return 'the identity provider has not verified an e-mail address'
  if (before === null && role === null) return 'the person is not invited'
  return null
}

const newcomer = (
  { orgId, now, recordedAt }: LedgerScope,
  ids: Ids,
  { email, issuer }: Identity,
): PersonRow =>
  newPerson({
    org_id: orgId,
    id: ids.next('per_', now),
    email: email ?? '',
    name: null,
    role: 'read',
    created_at: recordedAt,
    created_by: issuer,
  })

/** A changed address follows the person; the former ones stay names of the person. */
function withAddress(row: PersonRow, { email }: Identity): PersonRow {
  if (email === null) return row
  const folded = foldAddress(email)
  const addresses = [folded, ...addressesOf(row).filter((address) => address !== folded)]
  return { ...row, email, addresses: JSON.stringify(addresses) }
}

function refusal(
  { issuer, subject, email }: Identity,
  person: PersonRow | null,
  reason: string,
  isRecorded: boolean,
): { entries: EntryDraft[]; reply: () => SignedIn } {
  const entry: EntryDraft = {
    kind: 'person.sign_in_refused',
    actor: { type: 'issuer', id: issuer },
    data: { issuer, subject, email, reason, ...(person && { person_id: person.id }) },
  }
  return { entries: isRecorded ? [entry] : [], reply: () => ({ refused: reason }) }
}

const HIGHEST_FIRST: readonly PersonRole[] = ['admin', 'approver', 'read']

/** Returns the highest role that the groups of a person map to; null if none does. */
function roleOf(
  groups: readonly string[],
  map: ReadonlyMap<string, PersonRole>,
): PersonRole | null {
  const roles = new Set(groups.map((group) => map.get(group)))
  return HIGHEST_FIRST.find((role) => roles.has(role)) ?? null
}

const ATTEMPT_MS = 10 * 60 * 1000
const PLACE = 'login attempt'

/** A sign-in on its way through the identity provider. */
interface Attempt extends Challenge {
  /** The organization that the person chose. */
  readonly orgId: string | null
  /** Id of the organization's own provider that signs in; null for that of the server. */
  readonly providerId: string | null
  /** The person asked for a new organization, if none knows the account. */
  readonly signsUp: boolean
  /** The page of the console to open afterwards. */
  readonly next: string
}

/**
 * Returns the cookie that binds an attempt to a browser: the attempt itself, encrypted. Nothing is
 * stored, because anybody can begin attempts. The provider accepts a code once (RFC 6749 §4.1.2), so
 * an attempt cannot finish twice.
 */
export const sealAttempt = (secrets: SecretBox, attempt: Attempt, now: number): string =>
  secrets.seal(JSON.stringify({ ...attempt, end: now + ATTEMPT_MS }), PLACE)

/** Returns the attempt of a cookie; null if it is too old or was not sealed here. */
export function openAttempt(secrets: SecretBox, cookie: string, now: number): Attempt | null {
  try {
    const attempt = JSON.parse(secrets.open(cookie, PLACE)) as Attempt & { readonly end: number }
    return now < attempt.end ? attempt : null
  } catch (error) {
    if (error instanceof SecretUnreadable) return null
    throw error
  }
}

const START = '/console'
/** The address is in a cookie. */
const MAX_LENGTH = 1_000
const HERE = 'http://here.invalid'

/**
 * Returns the page of the console to open after a sign-in: the path and query of `asked`, or the
 * start page. Addresses of other origins, and pages that sign in themselves, are no such page.
 */
export function nextOf(asked: string | null): string {
  if (asked === null || asked.length > MAX_LENGTH || !URL.canParse(asked, HERE)) return START
  const { origin, pathname, search } = new URL(asked, HERE)
  const isPage = /^\/console(?:\/(?!login$|callback$|start$)|$)/.test(pathname)
  return origin === HERE && isPage ? pathname + search : START
}
