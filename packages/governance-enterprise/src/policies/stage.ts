import { on, Recent, settingsOf } from '@remit/core'
import type { Ask, Stage, Verdict } from '@remit/core'
import type { Meter } from '../rules/condition.ts'
import type { Tables } from '../schema.ts'
import { evaluatePolicies } from './evaluate.ts'
import { overlaidRules } from './overlay.ts'
import { toRule } from './policy.ts'
import type { PolicyRule } from './policy.ts'
import { snapshotOf, withOverlay } from './snapshot.ts'
import type { PolicySnapshot } from './snapshot.ts'
import { findRevision, listEnabledRules } from './store.ts'

/** What one decision may take; the conditions of a rule look at the clock in their loops too. */
const BUDGET_MS = 50

type Tx = Parameters<Stage['load']>[1]

/**
 * Milliseconds that this thread has computed. A decision must not be denied because the machine had
 * something else to do meanwhile, so it is not the time of the day that is measured.
 */
function computed(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The slot `policy`. `monotonic` is a clock in milliseconds that only measures. */
export function policyStage(
  monotonic: () => number = computed,
): Stage<PolicySnapshot, never, PolicySnapshot> {
  const known = new Recent<{ revision: string | null; snapshot: PolicySnapshot }>()
  return {
    unavailable: { reason: 'policy_error', message: 'The policies cannot be read.' },

    async load(orgId, tx) {
      const revision = await findRevision(tx, orgId)
      const defaultEffect = await defaultEffectOf(orgId, tx)
      const before = known.get(orgId)
      const snapshot =
        before?.revision === revision
          ? { ...before.snapshot, defaultEffect }
          : snapshotOf((await listEnabledRules(tx, orgId)).map(toRule), defaultEffect)
      known.keep(orgId, { revision, snapshot })
      return snapshot
    },

    prepare: (_asks, snapshot) => Promise.resolve(snapshot),

    overlay: (snapshot, overlay) => withOverlay(snapshot, overlaidRules(overlay)),

    leftOut: ({ rules }) => (rules.length > 0 ? 'policies_not_in_plan' : null),

    decide: (ask, snapshot) => decidePolicies(ask, snapshot, meterOf(monotonic)),
  }
}

/** Runs from the first look: a decision that is done before anybody looks needs no clock. */
function meterOf(monotonic: () => number): Meter {
  let started: number | null = null
  return {
    isOver() {
      const now = monotonic()
      started ??= now
      return now - started > BUDGET_MS
    },
  }
}

async function defaultEffectOf(orgId: string, tx: Tx): Promise<'allow' | 'deny'> {
  const row = await on<Tables>(tx)
    .selectFrom('organization')
    .select('settings')
    .where('id', '=', orgId)
    .executeTakeFirstOrThrow()
  return settingsOf(row).default_effect
}

function decidePolicies(ask: Ask, snapshot: PolicySnapshot, meter: Meter): Verdict {
  const said = evaluatePolicies(snapshot, ask, meter)
  switch (said.verdict) {
    case 'allow':
      return { verdict: 'pass', reason: 'policy_allow', notes: matched(said.rule) }
    case 'deny':
      return {
        verdict: 'deny',
        reason: 'policy_deny',
        message: said.rule.description ?? `The policy ${said.rule.id} denies it.`,
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
        message: `The policies could not be evaluated within ${BUDGET_MS} ms.`,
      }
    default:
      return said.effect === 'allow'
        ? { verdict: 'pass' }
        : { verdict: 'deny', reason: 'default_deny', message: 'No policy allows it.' }
  }
}

const matched = ({ id }: PolicyRule) => ({ matched: [{ kind: 'policy', id }] })
