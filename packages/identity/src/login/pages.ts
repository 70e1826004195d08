import { findOrganization, messagePage, OPERATOR, readCookie, writeCookie } from '@remit/core'
import type { ConsolePage, Deps, OidcSettings, PageRequest } from '@remit/core'
import { RefusalLog } from '../exchange/refusal-log.ts'
import { openAttempt, sealAttempt } from './attempts.ts'
import { candidatesOf } from './candidates.ts'
import type { Candidate } from './candidates.ts'
import { nextOf } from './next.ts'
import type { IdentityProvider } from './provider.ts'
import { signIn } from './sign-in.ts'

const AGAIN = { href: '/console/login', text: 'Sign in again' }

interface Login {
  readonly provider: IdentityProvider
  readonly settings: OidcSettings
  readonly refusals: RefusalLog
}

/** `/console/login` and `/console/callback`: a failure ends on a page that says why. */
export function loginPages(deps: Deps, login: Omit<Login, 'refusals'> | null): ConsolePage[] {
  const begin = login
    ? (request: PageRequest) => beginLogin(deps, login.provider, request)
    : () => Promise.resolve(messagePage(404, 'Single sign-on is not set up. Sign in with a key.'))
  const refusals = new RefusalLog()
  const finish = login
    ? (request: PageRequest) => finishLogin(deps, { ...login, refusals }, request)
    : begin
  return [
    { path: '/console/login', handle: begin },
    { path: '/console/callback', handle: finish },
  ]
}

/** The cookie of a sign-in on its way, beside that of the session. */
function attemptPlace({ sessions }: Deps) {
  const { cookie, isSecure } = sessions.place
  return { cookie: cookie.replace('session', 'login'), isSecure }
}

async function beginLogin(
  deps: Deps,
  provider: IdentityProvider,
  { url }: PageRequest,
): Promise<Response> {
  const { db, clock, log, secrets } = deps
  const place = attemptPlace(deps)
  try {
    const { challenge, url: target } = await provider.begin(
      url.searchParams.get('prompt') === 'login',
    )
    const asked = url.searchParams.get('organization')
    const organization = asked === null ? undefined : await findOrganization(db, asked)
    const cookie = sealAttempt(
      secrets,
      {
        ...challenge,
        orgId: organization?.id ?? null,
        next: nextOf(url.searchParams.get('next')),
      },
      clock.now(),
    )
    return redirect(target, writeCookie(place, cookie))
  } catch (error) {
    log.warn({ err: error }, 'the identity provider could not be reached')
    return messagePage(502, 'The identity provider does not answer. Try again later.', [AGAIN])
  }
}

async function finishLogin(
  deps: Deps,
  { provider, settings, refusals }: Login,
  { url, header }: PageRequest,
): Promise<Response> {
  const { db, clock, ids, log, secrets, sessions, writer } = deps
  const place = attemptPlace(deps)
  const cookie = readCookie(header('cookie') ?? '', place)
  const forget = { 'Set-Cookie': writeCookie(place, null) }
  const refuse = (status: number, message: string, links = [AGAIN]) =>
    messagePage(status, message, links, forget)
  const attempt = cookie === undefined ? null : openAttempt(secrets, cookie, clock.now())
  if (!attempt) return refuse(400, 'This sign-in has expired, or began in another browser.')
  const identity = await provider.finish(url.search, attempt).catch((error: unknown) => {
    log.warn({ err: error }, 'a sign-in failed its checks')
    return null
  })
  if (!identity) return refuse(400, 'The answer of the identity provider is not valid.')
  const candidates = await candidatesOf(db, identity, settings)
  const chosen =
    candidates.length > 1 ? candidates.find(({ id }) => id === attempt.orgId) : candidates[0]
  if (!chosen && candidates.length > 1)
    return refuse(200, 'Choose an organization.', linksTo(candidates, attempt.next))
  if (!chosen) return refuse(403, 'No organization has invited this account.')
  for (const { orgId, count } of refusals.settle(clock.now()))
    log.warn({ orgId, count }, 'refused sign-ins were not recorded, because there were too many')
  const change = signIn({ ids, sessions, settings, refusals }, identity)
  const result = await writer.work(chosen.id, OPERATOR, change)
  return 'refused' in result
    ? refuse(403, `Sign-in was refused: ${result.refused}.`)
    : redirect(attempt.next, writeCookie(sessions.place, result.cookie))
}

const linksTo = (candidates: readonly Candidate[], next: string) =>
  candidates.map(({ id, name }) => ({
    href: `/console/login?organization=${id}&next=${encodeURIComponent(next)}`,
    text: name,
  }))

const redirect = (location: string, cookie: string): Response =>
  messagePage(303, 'Continue', [{ href: location, text: 'Continue' }], {
    Location: location,
    'Set-Cookie': cookie,
  })
