import { hash } from 'node:crypto'
import type { PolicyInput, PolicyOverlay, TriedRule } from '@remit/contract'
import { canonicalJson, fail, isoTime } from '@remit/core'
import type { RuleTrials } from '@remit/core'

// An entry has a largest size, and a change of more rules is known by its own digest.
const MAX_NAMED = 100

/** The rules to try, checked as if they were to be created; refused where no module has policies. */
export async function admitOverlay(
  trials: RuleTrials | undefined,
  orgId: string,
  overlay: PolicyOverlay | undefined,
): Promise<TriedRule[]> {
  if (!overlay) return []
  const warnings = await theTrials(trials).admit(orgId, overlay)
  return warnings.map((some, i) => ({ id: `overlay.${i}`, warnings: [...some] }))
}

export function theTrials(trials: RuleTrials | undefined): RuleTrials {
  if (!trials) throw fail('not_found', 'No installed module provides policies')
  return trials
}

/** What an entry says of the rules that were tried. */
export const recordedOverlay = (overlay: PolicyOverlay) => ({
  digest: digestOf(overlay),
  added: overlay.add.length,
  rules: overlay.add.slice(0, MAX_NAMED).map(ruleDigest),
  removed: overlay.remove.length,
  removed_ids: overlay.remove.slice(0, MAX_NAMED),
  ...(overlay.default_effect && { default_effect: overlay.default_effect }),
})

/**
 * SHA-256 in hex over the canonical JSON of what a policy rule does. The rule that is created later has
 * the same one in its entry `policy.created`, whatever it is called and however it is described.
 */
function ruleDigest(rule: Omit<PolicyInput, 'description'>): string {
  const { effect, agents, actions, resources, condition, enabled } = rule
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
    not_before,
    expires_at,
  })
}

/** SHA-256 in hex over the canonical JSON of a value; what is undefined is left out. */
export const digestOf = (value: unknown): string =>
  hash('sha256', canonicalJson(JSON.parse(JSON.stringify(value))), 'hex')
