import { MAX_CACHED_ORGS } from '@remit/core/base'
import type { Stage } from '@remit/core/decision'
import { LRUCache } from 'lru-cache'
import {
  decidePolicies,
  observePolicies,
  policiesLeftOut,
  snapshotOf,
  withOverlay,
} from './evaluate.ts'
import type { PolicySnapshot } from './evaluate.ts'
import { overlaidRules } from './overlay.ts'
import { modeOf, toRule } from './policy.ts'
import { findRevision, listEnabledRules } from './store.ts'
import type { PolicyRuleRow } from '../tables/policies.ts'

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
          : storedSnapshot(await listEnabledRules(tx, orgId), defaultEffect)
      known.set(orgId, { revision, snapshot })
      return snapshot
    },

    overlay: (snapshot, overlay) => withOverlay(snapshot, overlaidRules(overlay)),

    leftOut: policiesLeftOut,

    observer: observePolicies,

    decide: decidePolicies,
  }
}

/** The rules of rows that are enforced or observed. */
export function storedSnapshot(
  rows: readonly PolicyRuleRow[],
  defaultEffect: PolicySnapshot['defaultEffect'],
): PolicySnapshot {
  const { enforce = [], observe = [] } = Object.groupBy(
    rows,
    (row) => modeOf(row.enabled === 1, row.observed === 1).mode,
  )
  return snapshotOf(enforce.map(toRule), defaultEffect, observe.map(toRule))
}
