import type { FactEntry } from '../entry.ts'
import { recordIn, textIn } from '../read.ts'
import type { State } from '../state/state.ts'

/** Kinds of entries of which some are administrative, for `Meter.reads`. */
export const ADMINISTRATIVE = [
  'policy.*',
  'approval_rule.*',
  'spend_limit.*',
  'permission.*',
  'agent_mode.*',
  'agent.*',
  'credential.*',
  'trust_policy.*',
  'issuer.*',
  'key.*',
  'organization.updated',
  'webhook.*',
] as const

/** What the server notes, or what changes nothing. */
const NO_CHANGE: ReadonlySet<string> = new Set([
  'policy.dry_run',
  'credential.refused',
  'issuer.fetch_failed',
  'webhook.disabled',
])

/**
 * Whether an entry of these kinds is a change that somebody decided on. A credential that came of a
 * token exchange is none: the issuer was trusted by somebody, and that is the change. Nor is the first
 * key: before it nobody could have made one, so it belongs to the making of the organization.
 */
export function isAdministrative({ kind, erased, data }: FactEntry, state: State): boolean {
  if (erased || NO_CHANGE.has(kind)) return false
  if (kind === 'key.created' && state.keys.size + state.lost(kind) === 0) return false
  if (kind !== 'credential.issued') return true
  return textIn(recordIn(data, 'credential') ?? {}, 'source') !== 'exchange'
}

/** The person who did it, as the entry or the key that it names has it; null where nobody is named. */
export const authorOf = ({ actor, data }: FactEntry, state: State): string | null =>
  textIn(data, 'person') ?? state.personOf(actor)
