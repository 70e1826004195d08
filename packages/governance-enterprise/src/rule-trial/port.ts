import { setImmediate } from 'node:timers/promises'
import { fail, invalid } from '@remit/core/base'
import type { Overlay } from '@remit/core/decision'
import type { Deps, RuleTrials } from '@remit/core/module'
import { siblingModule, sliced } from '@remit/core/threads'
import { admitCandidates } from '../policies/overlay.ts'
import { MAX_BROAD_RULES } from '../policies/policy.ts'
import { listIds } from '../policies/store.ts'
import { ruleWarnings } from '../rules/lint.ts'
import { isBroad } from '../rules/rule-index.ts'

const PACING = { now: () => performance.now(), pause: () => setImmediate() }

// From source, a thread must import the source.
const MODULE = siblingModule(import.meta.url, 'trial')

/** Policy rules before they are created. */
export const ruleTrials = ({ db, clock }: Pick<Deps, 'db' | 'clock'>): RuleTrials => ({
  module: MODULE.href,

  async admit(orgId: string, overlay: Overlay) {
    const candidates = await admitCandidates(overlay, sliced(PACING))
    const ids = await listIds(db, orgId, overlay.remove)
    const unknown = overlay.remove.findIndex((id) => !ids.has(id))
    if (unknown !== -1)
      throw invalid(`overlay.remove.${unknown}`, 'is not a policy rule of the organization')
    const gone = new Set(overlay.remove)
    const broad = [...(await listIds(db, orgId, 'broad'))].filter((id) => !gone.has(id))
    const added = candidates.filter(({ rule }) => isBroad(rule))
    if (broad.length + added.length > MAX_BROAD_RULES) throw fail('too_many_broad_rules')
    return candidates.map(({ rule }) => ruleWarnings(rule, rule.effect, clock.now()))
  },
})
