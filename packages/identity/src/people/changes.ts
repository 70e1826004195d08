import type { Person, PersonChange, PersonInput } from '@remit/contract'
import { existing, fail } from '@remit/core/base'
import type { Ids } from '@remit/core/base'
import { actorOf, personOf } from '@remit/core/caller'
import type { Caller } from '@remit/core/caller'
import { endSessionsOf, hasOtherAdmin } from '@remit/core/keys'
import { receipted, recording } from '@remit/core/ledger/lanes'
import type { Change, EntryDraft, LedgerScope } from '@remit/core/ledger/lanes'
import type { PersonRow } from '../tables/people.ts'
import {
  countPeople,
  findByAddress,
  findPerson,
  hasOtherAdminPerson,
  insertPerson,
  newPerson,
  removePerson,
  updatePerson,
} from './store.ts'

const MAX_PEOPLE = 10_000

/** A person in API and ledger form. */
export const toPerson = (row: PersonRow): Person => ({
  id: row.id,
  email: row.email,
  name: row.name,
  role: row.role,
  status: row.status,
  created_at: row.created_at,
  last_login_at: row.last_login_at,
})

export const invitation =
  (ids: Ids, { email, name, role }: PersonInput): Change<Person> =>
  async ({ tx, orgId, now, recordedAt }, caller) => {
    if ((await findByAddress(tx, orgId, email)).length > 0) throw fail('person_exists')
    if ((await countPeople(tx, orgId)) >= MAX_PEOPLE) throw fail('too_many_people')
    const row = newPerson({
      org_id: orgId,
      id: ids.next('per_', now),
      email,
      name,
      role,
      created_at: recordedAt,
      created_by: actorOf(caller).id,
    })
    await insertPerson(tx, row)
    return receipted([entryOf('person.invited', row, caller)], toPerson(row))
  }

/** Tells whether the identity provider of an organization decides about roles. */
export type IsRoleManaged = (tx: LedgerScope['tx'], orgId: string) => Promise<boolean>

/** Changes a person; what takes rights away ends the sessions of the person. */
export const personChange =
  (id: string, change: PersonChange, isRoleManaged: IsRoleManaged): Change<Person> =>
  async (scope, caller) => {
    const { tx, orgId } = scope
    const before = await findIn(scope, id)
    const { name = before.name, role = before.role, status: wanted } = change
    if (role !== before.role && (await isRoleManaged(tx, orgId))) throw fail('role_managed')
    const row = { ...before, name, role, status: statusAfter(before, wanted) }
    if (role !== before.role || row.status === 'disabled') {
      if (isAdmin(before) && !isAdmin(row)) await keepAdmin(tx, before)
      await endSessionsOf(tx, orgId, id)
    }
    await updatePerson(tx, row)
    const isStopped = row.status === 'disabled' && before.status !== 'disabled'
    const kind = isStopped ? 'person.disabled' : 'person.updated'
    return receipted([entryOf(kind, row, caller)], toPerson(row))
  }

export const personRemoval =
  (id: string): Change<undefined> =>
  async (scope, caller) => {
    const { tx, orgId } = scope
    const row = await findIn(scope, id)
    if (isAdmin(row)) await keepAdmin(tx, row)
    await removePerson(tx, orgId, id)
    await endSessionsOf(tx, orgId, id)
    return recording(entryOf('person.removed', row, caller))
  }

async function findIn({ tx, orgId }: LedgerScope, id: string): Promise<PersonRow> {
  return existing(await findPerson(tx, orgId, id), 'person_not_found')
}

/** A person who never signed in and is enabled again is invited again. */
function statusAfter(
  { status, subject }: PersonRow,
  wanted: PersonChange['status'],
): PersonRow['status'] {
  if (wanted !== 'active') return wanted ?? status
  return subject === null ? 'invited' : 'active'
}

const isAdmin = ({ role, status }: PersonRow): boolean => role === 'admin' && status === 'active'

async function keepAdmin(tx: LedgerScope['tx'], { org_id, id }: PersonRow): Promise<void> {
  if (await hasOtherAdminPerson(tx, org_id, id)) return
  if (!(await hasOtherAdmin(tx, org_id, ''))) throw fail('last_admin')
}

type PersonKind = 'person.invited' | 'person.updated' | 'person.disabled' | 'person.removed'

const entryOf = (kind: PersonKind, row: PersonRow, caller: Caller | null): EntryDraft => ({
  kind,
  actor: actorOf(caller),
  data: { member: toPerson(row), ...personOf(caller) },
})
