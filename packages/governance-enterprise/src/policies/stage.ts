import { MAX_CACHED_ORGS } from '@remit/core/base'
import { DECISION_MS } from '@remit/core/decision'
import type { Ask, Stage, StageVerdict } from '@remit/core/decision'
import { LRUCache } from 'lru-cache'
import { evaluatePolicies, snapshotOf, withOverlay } from './evaluate.ts'
import type { PolicySnapshot } from './evaluate.ts'
import { overlaidRules } from './overlay.ts'
import { toRule } from './policy.ts'
import type { PolicyRule } from './policy.ts'
import { findRevision, listEnabledRules } from './store.ts'

/** The slot `policy`. */
export function policyStage(): Stage<PolicySnapshot, never, PolicySnapshot> {
  const known = new LRUCache<string, { revision: string | null; snapshot: PolicySnapshot }>({
    max: MAX_CACHED_ORGS,
  })
  return {
    unavailable: { reason: 'policy_error', message: 'The policies cannot be read.' },

    reads: ['policies'],

    async load({ orgId, tx, organization }) {
      const revision = await findRevision(tx, orgId)
      const defaultEffect = organization.settings.default_effect
      const before = known.get(orgId)
      const snapshot =
        before?.revision === revision
          ? { ...before.snapshot, defaultEffect }
          : snapshotOf((await listEnabledRules(tx, orgId)).map(toRule), defaultEffect)
      known.set(orgId, { revision, snapshot })
      return snapshot
    },

    overlay: (snapshot, overlay) => withOverlay(snapshot, overlaidRules(overlay)),

    leftOut: ({ rules }) => (rules.length > 0 ? 'policies_not_in_plan' : null),

    decide: decidePolicies,
  }
}

function decidePolicies(ask: Ask, snapshot: PolicySnapshot): StageVerdict {
  const said = evaluatePolicies(snapshot, ask, ask.meter)
  switch (said.verdict) {
    case 'allow':
      return { verdict: 'pass', reason: 'policy_allow', notes: matched(said.rule) }
    case 'deny':
      return {
        verdict: 'deny',
        reason: 'policy_deny',
        message: said.rule.description ?? `The policy ${said.rule.id} denies this action.`,
        notes: matched(said.rule),
      }
    case 'error':
      return {
        verdict: 'deny',
        reason: 'policy_error',
        message: `The condition of the policy ${said.rule.id} could not be evaluated.`,
        notes: matched(said.rule),
      }
    case 'overtime':
      return {
        verdict: 'deny',
        reason: 'policy_error',
        message: `The policies could not be evaluated within ${DECISION_MS} ms.`,
      }
    default:
      return said.effect === 'allow'
        ? { verdict: 'pass' }
        : { verdict: 'deny', reason: 'default_deny', message: 'No policy allows this action.' }
  }
}

const matched = ({ id, revision }: PolicyRule) => ({
  matched: [{ kind: 'policy', id, ...(revision !== null && { revision }) }],
})
