import { hash } from 'node:crypto'
import type { PolicyInput, PolicyOverlay, TriedRule } from '@remit/contract'
import { canonicalJson } from '@remit/contract/json'
import { fail, isoTime } from '@remit/core/base'
import type { RuleTrials } from '@remit/core/module'

// Entries have a maximum size; a larger change is recorded by its digest.
const MAX_NAMED = 100

/** Validates the overlay rules like new rules; refused if no module provides policies. */
export async function admitOverlay(
  trials: RuleTrials | undefined,
  orgId: string,
  overlay: PolicyOverlay | undefined,
): Promise<TriedRule[]> {
  return overlay ? [...(await requireRuleTrials(trials).admit(orgId, overlay))] : []
}

export function requireRuleTrials(trials: RuleTrials | undefined): RuleTrials {
  if (!trials) throw fail('not_found', 'No installed module provides policies')
  return trials
}

/** The record of an overlay in an entry. */
export const recordedOverlay = (overlay: PolicyOverlay) => ({
  digest: digestOf(overlay),
  added: overlay.add.length,
  rules: overlay.add.slice(0, MAX_NAMED).map(ruleDigest),
  removed: overlay.remove.length,
  removed_ids: overlay.remove.slice(0, MAX_NAMED),
  ...(overlay.default_effect && { default_effect: overlay.default_effect }),
  ...objectsOf(overlay),
})

/** The numbers of objects of other kinds; their content is in the digest. */
function objectsOf({ settings, ...overlay }: PolicyOverlay) {
  const counts = new Map<string, ReturnType<typeof countsOf>>()
  for (const kind of OBJECTS) {
    const change = overlay[kind]
    if (change) counts.set(kind, countsOf(change))
  }
  if (settings) counts.set('settings', { set: Object.keys(settings).length, removed: 0 })
  return counts.size > 0 && { objects: Object.fromEntries(counts) }
}

const OBJECTS = ['approval_rules', 'permissions', 'spend_limits', 'budgets', 'agent_modes'] as const
const countsOf = (change: { readonly set: unknown[]; readonly remove?: unknown[] }) => ({
  set: change.set.length,
  removed: change.remove?.length ?? 0,
})

/**
 * SHA-256 in hex of the canonical JSON of a policy rule's effect. A rule created later has the same
 * digest in its entry `policy.created`, whatever its id and description.
 */
function ruleDigest(rule: Omit<PolicyInput, 'description'>): string {
  const { effect, agents, actions, resources, condition, enabled, mode } = rule
  const [not_before, expires_at] = [rule.not_before, rule.expires_at].map(
    (time) => time && isoTime(Date.parse(time)),
  )
  return digestOf({
    effect,
    agents,
    actions,
    resources,
    condition,
    enabled,
    // Entries of earlier releases do not have it.
    ...(mode === 'observe' && { mode }),
    not_before,
    expires_at,
  })
}

/** SHA-256 in hex of the canonical JSON of a value; undefined members are omitted. */
export const digestOf = (value: unknown): string =>
  hash('sha256', canonicalJson(JSON.parse(JSON.stringify(value))), 'hex')
