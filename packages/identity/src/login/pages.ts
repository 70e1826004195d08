import { messagePage } from '@remit/core/http/console'
import type { ConsolePage, PageLink, PageRequest } from '@remit/core/http/console'
import { asFailure, Limiter, networkOf } from '@remit/core/http'
import { readCookie, writeCookie } from '@remit/core/keys'
import type { Deps } from '@remit/core/module'
import { OPERATOR, findOrganization, isOrganizationName } from '@remit/core/orgs'
import { SecretUnreadable } from '@remit/core/secrets'
import { eachPart, inPart } from '@remit/core/db'
import type { Part } from '@remit/core/db'
import { Failure } from '@remit/core/base'
import { RefusalLog } from '../exchange/refusals.ts'
import { openAttempt, sealAttempt, signIn, isInvited, nextOf } from './sign-in.ts'
import type { LoginWay, LoginWays } from './ways.ts'
import { domainOf, findByDomain } from './own/store.ts'
import {
  findByAddress,
  findBySubject,
  foldAddress,
  insertPerson,
  newPerson,
} from '../people/store.ts'
import type { Identity } from './provider.ts'
import { toPerson } from '../people/changes.ts'

const AGAIN = { href: '/console/login', text: 'Sign in again' }
const CREATE = { href: '/console/login?signup=1', text: 'Create an organization' }
const BACK = { href: '/console', text: 'Back to the sign-in page' }

/** `/console/login` and the callbacks: a failure ends on a page that says why. */
export function loginPages(deps: Deps, ways: LoginWays): ConsolePage[] {
  const refusals = new RefusalLog()
  const signUp = signUpOf(deps)
  const guarded = (handle: (request: PageRequest) => Promise<Response>) => (request: PageRequest) =>
    handle(request).catch((error: unknown) => unavailable(deps, error, request))
  const begin = guarded((request) => beginLogin(deps, ways, request))
  const finish = guarded((request) => finishLogin(deps, ways, { refusals, signUp }, request))
  const notSetUp = () => Promise.resolve(messagePage(404, NOT_SET_UP, [BACK]))
  return [
    { path: '/console/login', handle: begin },
    { path: '/console/callback', handle: ways.server ? finish : notSetUp },
    { path: '/console/callback/:organization', handle: finish },
  ]
}

/** The cookie of a sign-in on its way, beside that of the session. */
function attemptPlace({ sessions }: Deps) {
  const { cookie, isSecure } = sessions.place
  return { cookie: cookie.replace('session', 'login'), isSecure }
}

async function beginLogin(
  deps: Deps,
  ways: LoginWays,
  { url: { searchParams: asked }, header }: PageRequest,
): Promise<Response> {
  const { clock, log, secrets } = deps
  const next = nextOf(asked.get('next'))
  const organization = asked.get('organization')
  const place = attemptPlace(deps)
  let choice: WayChoice
  try {
    choice = await chooseWay(deps.db, ways, organization)
  } catch (error) {
    return unreadable(log, error, organization, next)
  }
  if ('organizations' in choice)
    return messagePage(200, 'Choose an organization.', linksTo(choice.organizations, next))
  if ('missing' in choice) return messagePage(404, choice.missing, [BACK])
  const { way, orgId } = choice
  const begun = await way.provider
    .begin(asked.get('prompt') === 'login')
    .catch((error: unknown) => {
      log.warn({ err: error, organization }, 'the identity provider could not be reached')
      return null
    })
  if (!begun) {
    const message = 'The identity provider does not answer. Try again later.'
    return messagePage(502, message, [againAt(organization, next)])
  }
  // Another site must not create organizations in the name of its visitors.
  const signsUp = asked.has('signup') && header('sec-fetch-site') !== 'cross-site'
  const attempt = { ...begun.challenge, orgId, providerId: way.id, signsUp, next }
  return redirect(begun.url, writeCookie(place, sealAttempt(secrets, attempt, clock.now())))
}

/** The page for a provider whose secret cannot be decrypted. Throws any other error. */
function unreadable(
  log: Deps['log'],
  error: unknown,
  organization: string | null,
  next: string,
): Response {
  if (!(error instanceof SecretUnreadable)) throw error
  log.error({ err: error, organization }, 'the client secret of a login provider is unreadable')
  const message = 'The server cannot decrypt the client secret of this identity provider.'
  const links = [againAt(organization, next), BACK]
  return messagePage(503, `${message} An admin can set it again.`, links)
}

/** The page while the database cannot be used. Throws any other error. */
function unavailable({ log }: Deps, error: unknown, { url }: PageRequest): Response {
  if (asFailure(error).status !== 503) throw error
  log.error({ err: error }, 'a sign-in failed because the service is unavailable')
  const asked = url.searchParams
  const again = againAt(asked.get('organization'), nextOf(asked.get('next')))
  return messagePage(503, 'The service is unavailable. Try again later.', [again])
}

async function finishLogin(
  deps: Deps,
  ways: LoginWays,
  { refusals, signUp }: { readonly refusals: RefusalLog; readonly signUp: SignUp | null },
  { url, header, address }: PageRequest,
): Promise<Response> {
  const { clock, ids, log, secrets, sessions, writer } = deps
  const place = attemptPlace(deps)
  const cookie = readCookie(header('cookie') ?? '', place)
  const forget = { 'Set-Cookie': writeCookie(place, null) }
  const refuse = (status: number, message: string, links: readonly PageLink[] = [AGAIN]) =>
    messagePage(status, message, links, forget)
  const attempt = cookie === undefined ? null : openAttempt(secrets, cookie, clock.now())
  if (!attempt || !isOwnCallback(url, attempt))
    return refuse(400, 'This sign-in has expired, or began in another browser.')
  let way: LoginWay | null
  try {
    way = attempt.providerId === null ? ways.server : await ways.ofOrganization(attempt.orgId ?? '')
  } catch (error) {
    return unreadable(log, error, attempt.orgId, attempt.next)
  }
  if (!way || way.id !== attempt.providerId)
    return refuse(400, 'The single sign-on has changed in the meantime.')
  const identity = await way.provider.finish(url.search, attempt).catch((error: unknown) => {
    log.warn({ err: error }, 'a sign-in failed its checks')
    return null
  })
  if (!identity) return refuse(400, 'The answer of the identity provider is not valid.')
  const change = signIn({ ids, sessions, way, refusals }, identity)
  const { found: candidates, isComplete } = await candidatesOf(deps, identity, way)
  const chosen =
    candidates.length > 1 ? candidates.find(({ id }) => id === attempt.orgId) : candidates[0]
  if (!chosen && candidates.length > 1)
    return refuse(200, 'Choose an organization.', linksTo(candidates, attempt.next))
  if (!chosen) {
    if (!isComplete) return refuse(503, 'Not all organizations can be read. Try again later.')
    const maySignUp = signUp !== null && way === ways.server && attempt.orgId === null
    if (!maySignUp) return refuse(403, 'No organization has invited this account.')
    if (!attempt.signsUp)
      return refuse(403, 'No organization has invited this account.', [CREATE, AGAIN])
    const made = await signUp(identity, address())
    if ('refused' in made) return refuse(403, `The sign-up was refused: ${made.refused}.`)
    const first = await writer.work(made.id, OPERATOR, change)
    return 'refused' in first
      ? refuse(403, `Sign-in was refused: ${first.refused}.`)
      : welcome(made, writeCookie(sessions.place, first.cookie))
  }
  for (const { orgId, count } of refusals.settle(clock.now()))
    log.warn({ orgId, count }, 'refused sign-ins were not recorded, because there were too many')
  const result = await writer.work(chosen.id, OPERATOR, change)
  return 'refused' in result
    ? refuse(403, `Sign-in was refused: ${result.refused}.`, linksTo([chosen], attempt.next))
    : redirect(attempt.next, writeCookie(sessions.place, result.cookie))
}

/** A code is accepted on the page of its provider only: another one may have sent it elsewhere. */
function isOwnCallback(
  { pathname }: URL,
  { providerId, orgId }: { readonly providerId: string | null; readonly orgId: string | null },
): boolean {
  const own = providerId === null ? '/console/callback' : `/console/callback/${orgId}`
  return pathname === own
}

function againAt(organization: string | null, next: string): PageLink {
  const query = new URLSearchParams({ ...(organization !== null && { organization }), next })
  return { ...AGAIN, href: `/console/login?${query.toString()}` }
}

const linksTo = (candidates: readonly Candidate[], next: string): PageLink[] =>
  candidates.map(({ id, name }) => ({
    ...againAt(id, next),
    ...(candidates.length > 1 && { text: name }),
  }))

/** The first key is shown once, here. */
const welcome = ({ name, key }: SignedUp, cookie: string): Response =>
  messagePage(
    200,
    `The organization ${name} was created. Its first admin key is shown only now: ${key}`,
    [{ href: '/console', text: 'Continue to the console' }],
    { 'Set-Cookie': cookie },
  )

const redirect = (location: string, cookie: string): Response =>
  messagePage(303, 'Continue', [{ href: location, text: 'Continue' }], {
    Location: location,
    'Set-Cookie': cookie,
  })

const NOT_SET_UP = 'Single sign-on is not set up. Sign in with a key.'

/** The way to sign in, organizations to choose from, or a sentence that says what is missing. */
type WayChoice =
  | { readonly way: LoginWay; readonly orgId: string | null }
  | { readonly organizations: readonly Candidate[] }
  | { readonly missing: string }

/** `asked`: id or name of an organization, an e-mail address of its domain, or null. */
async function chooseWay(
  db: Deps['db'],
  ways: LoginWays,
  asked: string | null,
): Promise<WayChoice> {
  const found = asked === null ? [] : await organizationsOf(db, asked.trim())
  if (found.length > 1) return { organizations: found }
  const orgId = found[0]?.id ?? null
  const way = (orgId === null ? null : await ways.ofOrganization(orgId)) ?? ways.server
  if (way) return { way, orgId }
  return {
    missing:
      asked === null ? NOT_SET_UP : 'No organization with this name or domain has single sign-on.',
  }
}

async function organizationsOf(db: Deps['db'], asked: string): Promise<readonly Candidate[]> {
  const domain = domainOf(asked)
  if (domain !== null) return findByDomain(db, domain)
  const found = await findOrganization(db, asked)
  return found ? [{ id: found.id, name: found.name }] : []
}

type Db = Deps['db']

interface Candidate {
  readonly id: string
  readonly name: string
}

/** The organizations of an identity, of those that could be read. */
interface Candidates {
  readonly found: readonly Candidate[]
  /** False if an organization could not be read: it may know the identity. */
  readonly isComplete: boolean
}

/**
 * Finds the organizations that know an identity, or have invited its verified address. With a
 * configured organization, that one alone, also for a person whom only a group makes known.
 */
async function candidatesOf(
  { db, log }: Pick<Deps, 'db' | 'log'>,
  identity: Identity,
  { organization }: Pick<LoginWay, 'organization'>,
): Promise<Candidates> {
  if (organization !== null) {
    const found = await findOrganization(db, organization)
    return { found: found ? [{ id: found.id, name: found.name }] : [], isComplete: true }
  }
  let isComplete = true
  const parts = await eachPart(
    db,
    (part) => candidatesIn(db, part, identity),
    (error, organizations) => {
      isComplete = false
      log.warn({ err: error, organizations }, 'reading people failed')
    },
  )
  return { found: parts.flat().toSorted((a, b) => (a.name < b.name ? -1 : 1)), isComplete }
}

async function candidatesIn(db: Db, part: Part, identity: Identity): Promise<Candidate[]> {
  const known = await findBySubject(db, part, identity.issuer, identity.subject)
  const invited =
    identity.email === null
      ? []
      : (await findByAddress(db, part, identity.email)).filter((row) =>
          isInvited(row, identity.email),
        )
  const ids = [...new Set([...known, ...invited].map((row) => row.org_id))]
  if (ids.length === 0) return []
  return db
    .selectFrom('organization')
    .select(['id', 'name'])
    .where(inPart(part, 'id'))
    .where('id', 'in', ids)
    .execute()
}

/** Organizations that one network may create in an hour. */
const PER_NETWORK = 5
const HOUR_S = 60 * 60

/** A new organization with its first key, or the reason why there is none. */
interface SignedUp {
  readonly id: string
  readonly name: string
  /** The text of the first admin key. */
  readonly key: string
}
type SignUpResult = SignedUp | { readonly refused: string }

/** Creates the organization of a person whom no organization knows. */
type SignUp = (identity: Identity, address: string | undefined) => Promise<SignUpResult>

/** Null unless the server offers sign-up. */
function signUpOf({ newOrganization, settings, ids, log }: Deps): SignUp | null {
  const { signUpsPerHour } = settings
  if (signUpsPerHour === undefined || newOrganization === null) return null
  const limiter = new Limiter(HOUR_S)
  const isOver = async (key: string, limit: number) => (await limiter.count(key)).used > limit

  /**
   * Creates the organization and invites its person as administrator, in one transaction: a sign-in
   * that ends between that and the session is repeated. The address is the name, and names are
   * unique: simultaneous requests create one organization per address.
   */
  const create = async (identity: Identity, email: string): Promise<SignUpResult> => {
    const name = foldAddress(email)
    if (!isOrganizationName(name)) return { refused: 'the e-mail address is too long' }
    try {
      const { organization, key } = await newOrganization(name, {
        plan: 'free',
        person: name,
        begin: async (tx, { id, created_at }) => {
          const row = newPerson({
            org_id: id,
            id: ids.next('per_', Date.parse(created_at)),
            email,
            name: identity.name,
            role: 'admin',
            created_at,
            created_by: identity.issuer,
          })
          await insertPerson(tx, row)
          const actor = { type: 'person', id: row.id }
          return [{ kind: 'person.invited', actor, data: { member: toPerson(row) } }]
        },
      })
      log.info({ orgId: organization.id }, 'an organization signed up')
      return { id: organization.id, name, key: key.secret }
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'organization_exists')) throw error
      return { refused: 'an organization for this address exists; ask its administrator' }
    }
  }

  return async (identity, address) => {
    if (identity.email === null)
      return { refused: 'the identity provider has not verified an e-mail address' }
    const network = `network ${networkOf(address ?? '')}`
    if ((await isOver(network, PER_NETWORK)) || (await isOver('all', signUpsPerHour)))
      return { refused: 'there are too many sign-ups now; try again in an hour' }
    return create(identity, identity.email)
  }
}
