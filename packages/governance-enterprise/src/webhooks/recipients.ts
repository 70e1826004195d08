import type { Deps } from '@remit/core/module'
import { settingsOf } from '@remit/core/orgs/settings'
import { statusAt } from '../approvals/lifecycle.ts'
import { peopleOf } from '../approvals/people.ts'
import { partiesOf, requirementsOf } from '../approvals/request.ts'
import type { Voter } from '../approvals/requirements.ts'
import { findRequest } from '../approvals/store.ts'
import { whyNot } from '../approvals/vote.ts'
import { isAddress } from './target.ts'

/** The most people that one message goes to. */
const MAX_RECIPIENTS = 100

/**
 * Returns the addresses of those who can vote on a request now: active people of the organization, and
 * addresses that a rule names. Empty if nobody can, such as after the decision.
 */
export async function approversOf(
  deps: Pick<Deps, 'db' | 'clock' | 'offered'>,
  orgId: string,
  requestId: string,
): Promise<string[]> {
  const { db, clock } = deps
  const row = await findRequest(db, orgId, requestId)
  const now = clock.now()
  if (!row || statusAt(row, now) !== 'pending') return []
  const people = peopleOf(deps)
  const organization = await db
    .selectFrom('organization')
    .select('settings')
    .where('id', '=', orgId)
    .executeTakeFirstOrThrow()
  const { four_eyes: fourEyes, require_separate_keys: apart } = settingsOf(organization)
  const parties = partiesOf(row, await people.owners(db, orgId, row.agent_id), fourEyes)
  const known = (await deps.offered('people')?.deciders(db, orgId)) ?? []
  const voters: Voter[] = known
    .filter(({ role }) => role === 'approver' || !apart)
    .map(({ id, email, role, names }) => ({ type: 'person', id, email, role, names, named: true }))
  // Only the names of rules count for people whom the organization does not know.
  for (const { approvers } of requirementsOf(row))
    for (const name of approvers?.users ?? [])
      if (isAddress(name) && (await people.finder(db, orgId)(name)) === null)
        voters.push({ type: 'person', id: name, named: true, role: '' })
  const able = voters.filter((voter) => whyNot(row, parties, voter, now) === null)
  return [...new Set(able.map(({ email, id }) => email ?? id).filter(isAddress))].slice(
    0,
    MAX_RECIPIENTS,
  )
}
