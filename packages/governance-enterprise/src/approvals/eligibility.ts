import type { Approval } from '@remit/contract'
import { Failure } from '@remit/core/base'
import type { Caller } from '@remit/core/caller'
import type { Deps } from '@remit/core/module'
import { settingsOf } from '@remit/core/orgs/settings'
import type { ApprovalRequestRow } from '../tables/approvals.ts'
import type { People } from './people.ts'
import { partiesOf } from './request.ts'
import { admitKey, voterOf, whyNot } from './vote.ts'
import type { VoteSettings } from './vote.ts'

/** Returns true if the endpoint that decides would now accept a vote of the caller. */
export type Eligibility = Required<Pick<Approval, 'can_vote' | 'why_not'>>

const DECIDING: ReadonlySet<string> = new Set(['admin', 'approver'])

/** Returns the eligibility of a caller for each of some requests, in order. */
export async function eligibilityOf(
  { db, people, now }: Pick<Deps, 'db'> & { readonly people: People; readonly now: number },
  caller: Caller,
  rows: readonly ApprovalRequestRow[],
): Promise<Eligibility[]> {
  const { principal, orgId } = caller
  if (principal.type === 'credential')
    return rows.map(() => no('The credential of an agent cannot decide'))
  if (!DECIDING.has(principal.role))
    return rows.map(() =>
      no(`The role ${principal.role} cannot decide; the roles admin and approver can`),
    )
  const voter = await voterOf(principal, undefined, people.finder(db, orgId))
  const settings = await readSettings(db, orgId)
  const owners = new Map<string, readonly string[]>()
  for (const agentId of new Set(rows.map((row) => row.agent_id)))
    owners.set(agentId, await people.owners(db, orgId, agentId))
  return rows.map((row) => {
    const refused = refusalOf(caller, row, settings)
    const parties = partiesOf(row, owners.get(row.agent_id) ?? [], settings.four_eyes)
    const reason = refused ?? whyNot(row, parties, voter, now)
    return reason === null ? { can_vote: true, why_not: null } : no(reason)
  })
}

const no = (reason: string): Eligibility => ({ can_vote: false, why_not: reason })

function refusalOf(caller: Caller, row: ApprovalRequestRow, settings: VoteSettings): string | null {
  try {
    admitKey(caller, row, settings)
    return null
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  }
}

async function readSettings(db: Deps['db'], orgId: string): Promise<VoteSettings> {
  const organization = await db
    .selectFrom('organization')
    .select('settings')
    .where('id', '=', orgId)
    .executeTakeFirstOrThrow()
  return settingsOf(organization)
}
