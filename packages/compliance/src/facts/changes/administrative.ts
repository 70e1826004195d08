import type { FactEntry } from '../entry.ts'
import { recordIn, textIn } from '../recorded-json.ts'
import type { FactState } from '../state/state.ts'

/** Entry kinds of which some are administrative, for `Meter.reads`. */
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
  'person.*',
  'webhook.*',
  'sink.*',
] as const

/** Server notes and entries that change nothing. */
const NO_CHANGE: ReadonlySet<string> = new Set([
  'policy.dry_run',
  'credential.refused',
  'issuer.fetch_failed',
  'person.signed_in',
  'person.signed_out',
  'person.sign_in_refused',
  'webhook.disabled',
  'webhook.tested',
])

/**
 * Returns whether an entry is an administrative change. A credential from a token exchange is not:
 * the decision was to trust the issuer. The first key is not, either: no other key existed, so it belongs
 * to the creation of the organization.
 */
export function isAdministrative({ kind, erased, data }: FactEntry, state: FactState): boolean {
  if (erased || NO_CHANGE.has(kind)) return false
  if (kind === 'key.created' && state.keys.size + state.lost(kind) === 0) return false
  if (kind !== 'credential.issued') return true
  return textIn(recordIn(data, 'credential') ?? {}, 'source') !== 'exchange'
}

/** The person who made the change, from the entry or from the key that it names; null if unknown. */
export const authorOf = ({ actor, data }: FactEntry, state: FactState): string | null =>
  textIn(data, 'person') ?? state.personOf(actor)
