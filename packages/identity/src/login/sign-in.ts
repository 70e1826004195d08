import type { Change, EntryDraft, Ids, OidcSettings, Sessions, WriteContext } from '@remit/core'
import { endSessionsOf } from '@remit/core'
import { personEntry } from '../people/changes.ts'
import {
  addressesOf,
  findByAddress,
  findBySubject,
  foldAddress,
  insertPerson,
  updatePerson,
} from '../people/store.ts'
import type { PersonRow } from '../tables/people.ts'
import type { RefusalLog } from '../exchange/refusal-log.ts'
import type { Identity } from './provider.ts'
import { roleOf } from './role.ts'

/** The cookie of a session, or the reason why there is none. */
export type SignedIn = { readonly cookie: string } | { readonly refused: string }

interface SignInDeps {
  readonly ids: Ids
  readonly sessions: Sessions
  readonly settings: Pick<OidcSettings, 'roleMap' | 'organization'>
  /** Limits the entries of refusals: every account of the provider can cause them. */
  readonly refusals: RefusalLog
}

/** Signs an identity in to an organization, or records why not, in one transaction. */
export const signIn =
  ({ ids, sessions, settings, refusals }: SignInDeps, identity: Identity): Change<SignedIn> =>
  async (scope) => {
    const { tx, orgId, now, recordedAt } = scope
    const before = await personFor(scope, identity)
    const role = settings.roleMap
      ? roleOf(identity.groups, settings.roleMap)
      : (before?.role ?? null)
    // Sessions keep the role of their sign-in.
    if (before && before.role !== role) await endSessionsOf(tx, orgId, before.id)
    const refused = refusalOf(identity, before, role)
    if (refused !== null || role === null)
      return refusal(
        identity,
        before,
        refused ?? 'no group of the person has a role',
        refusals.admit(orgId, identity.issuer, now),
      )
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
    const entry = personEntry('signed_in', row, null, { issuer: identity.issuer })
    return { entries: [entry], reply: () => ({ cookie }) }
  }

/** Issuer and subject identify a person; the address only the invitation of a new one. */
async function personFor(
  { tx, orgId }: WriteContext,
  { issuer, subject, email }: Identity,
): Promise<PersonRow | null> {
  const known = await findBySubject(tx, issuer, subject)
  const own = known.find((row) => row.org_id === orgId)
  if (own) return own
  const invited = email === null ? [] : await findByAddress(tx, email, orgId)
  return invited.find((row) => row.subject === null) ?? null
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
  { orgId, now, recordedAt }: WriteContext,
  ids: Ids,
  { email, issuer }: Identity,
): PersonRow => ({
  org_id: orgId,
  id: ids.next('per_', now),
  email: email ?? '',
  addresses: '[]',
  name: null,
  role: 'read',
  status: 'active',
  issuer: null,
  subject: null,
  created_at: recordedAt,
  created_by: issuer,
  last_login_at: null,
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
