import { setImmediate } from 'node:timers/promises'
import type { TriedRule } from '@remit/contract'
import { fail, invalid } from '@remit/core/base'
import type { Overlay } from '@remit/core/decision'
import type { Deps, RuleTrials } from '@remit/core/module'
import { siblingModule, sliced } from '@remit/core/threads'
import { rosterReader } from '../agents/agents.ts'
import { checkRule } from '../approvals/rule.ts'
import { listRules } from '../approvals/store.ts'
import { listBudgets, listLimits } from '../budgets/store.ts'
import { admitPermissions } from '../delegation/overlay.ts'
import { admitCandidates } from '../policies/overlay.ts'
import { MAX_BROAD_RULES } from '../policies/policy.ts'
import { listIds } from '../policies/store.ts'
import { ruleWarnings } from '../rules/lint.ts'
import { at, checkNames } from '../rules/overlaid.ts'
import { isBroad } from '../rules/rule-index.ts'

const PACING = { now: () => performance.now(), pause: () => setImmediate() }

// From source, a thread must import the source.
const MODULE = siblingModule(import.meta.url, 'trial')

type TrialDeps = Pick<Deps, 'db' | 'clock' | 'offered'>
type Rest = () => Promise<void>

/** Rules before they are created. */
export const ruleTrials = (deps: TrialDeps): RuleTrials => ({
  module: MODULE.href,

  async admit(orgId, overlay) {
    const rest = sliced(PACING)
    await checkLimits(deps, orgId, overlay)
    return [
      ...(await admitPolicies(deps, orgId, overlay, rest)),
      ...(await admitApprovalRules(deps, orgId, overlay, rest)),
      ...(await admitGrants(deps, orgId, overlay, rest)),
    ]
  },
})

async function admitPolicies(
  { db, clock }: TrialDeps,
  orgId: string,
  overlay: Overlay,
  rest: Rest,
): Promise<TriedRule[]> {
  const candidates = await admitCandidates(overlay, rest)
  const ids = await listIds(db, orgId, overlay.remove)
  const unknown = overlay.remove.findIndex((id) => !ids.has(id))
  if (unknown !== -1)
    throw invalid(`overlay.remove.${unknown}`, 'is not a policy rule of the organization')
  const gone = new Set(overlay.remove)
  const broad = [...(await listIds(db, orgId, 'broad'))].filter((id) => !gone.has(id))
  const added = candidates.filter(({ rule }) => isBroad(rule))
  if (broad.length + added.length > MAX_BROAD_RULES) throw fail('too_many_broad_rules')
  return candidates.map(({ rule }, i) => ({
    id: `overlay.${i}`,
    warnings: ruleWarnings(rule, rule.effect, clock.now()),
  }))
}

async function admitApprovalRules(
  { db }: TrialDeps,
  orgId: string,
  { approval_rules: change }: Overlay,
  rest: Rest,
): Promise<TriedRule[]> {
  if (!change) return []
  checkNames('overlay.approval_rules', 'id', change)
  if (change.remove.length > 0)
    requireAll('approval_rules', change.remove, await listRules(db, orgId), 'id')
  const rules: TriedRule[] = []
  for (const [i, { id, ...rule }] of change.set.entries()) {
    const warnings = at(`overlay.approval_rules.set.${i}`, () => checkRule(rule))
    rules.push({ id: `approval_rules.${id}`, warnings })
    await rest()
  }
  return rules
}

async function admitGrants(
  deps: TrialDeps,
  orgId: string,
  { permissions: change }: Overlay,
  rest: Rest,
): Promise<TriedRule[]> {
  if (!change) return []
  checkNames('overlay.permissions', 'id', change)
  const { db, clock } = deps
  const roster = await rosterReader(deps)(db, orgId)
  const granted = await admitPermissions(db, orgId, change, roster, clock.now(), rest)
  return granted.map((one) => ({
    id: `permissions.${one.id}`,
    warnings: ruleWarnings(one, one.effect, clock.now()),
  }))
}

async function checkLimits(
  { db }: TrialDeps,
  orgId: string,
  { spend_limits: limits, budgets, agent_modes: modes }: Overlay,
): Promise<void> {
  if (modes) checkNames('overlay.agent_modes', 'agent_id', modes)
  if (budgets) {
    checkNames('overlay.budgets', 'id', budgets)
    if (budgets.remove.length > 0)
      requireAll('budgets', budgets.remove, await listBudgets(db, orgId), 'id')
  }
  if (!limits) return
  checkNames('overlay.spend_limits', 'agent_id', limits)
  if (limits.remove.length > 0)
    requireAll('spend_limits', limits.remove, await listLimits(db, orgId), 'agent_id')
}

/** Refuses a name that no object of the organization has. */
function requireAll<Key extends string>(
  part: keyof Overlay,
  names: readonly string[],
  rows: readonly Readonly<Record<Key, string>>[],
  key: Key,
): void {
  const known = new Set<string>(rows.map((row) => row[key]))
  const unknown = names.findIndex((name) => !known.has(name))
  if (unknown === -1) return
  throw invalid(`overlay.${part}.remove.${unknown}`, 'is not one of the organization')
}
