import { isNamed, voteIn } from '../approvals/votes.ts'
import { authorOf } from '../changes/administrative.ts'
import type { FactEntry } from '../entry.ts'
import { recordIn, textIn } from '../recorded-json.ts'
import type { FactState } from '../state/state.ts'

/** Entry kinds that can record an intervention. */
export const INTERVENING = [
  'permission.granted',
  'permission.revoked',
  'credential.revoked',
  'agent.suspended',
  'agent.removed',
  'approval.voted',
  'approval.decided',
] as const

export type Intervention =
  | 'denies'
  | 'permissions_revoked'
  | 'credentials_revoked'
  | 'suspensions'
  | 'removals'
  | 'refusals'

const BY_KIND: Readonly<Record<string, Intervention>> = {
  'permission.revoked': 'permissions_revoked',
  'credential.revoked': 'credentials_revoked',
  'agent.suspended': 'suspensions',
  'agent.removed': 'removals',
}

/** The kind of intervention, and whether a person made it; null for other entries. */
export function interventionOf(
  entry: FactEntry,
  state: FactState,
): { readonly what: Intervention; readonly byPerson: boolean } | null {
  const { kind, data } = entry
  if (kind === 'approval.voted' || kind === 'approval.decided') {
    const vote = voteIn(entry)
    return vote?.decision === 'reject' ? { what: 'refusals', byPerson: isNamed(vote) } : null
  }
  const isDeny =
    kind === 'permission.granted' && textIn(recordIn(data, 'permission') ?? {}, 'effect') === 'deny'
  const what = isDeny ? 'denies' : BY_KIND[kind]
  return what && !entry.erased ? { what, byPerson: authorOf(entry, state) !== null } : null
}
