/** The objects of this package as documents of policy sets. */
import { SETTINGS_ID } from '@remit/contract'
import type { DocumentSpec } from '@remit/contract'
import type { Ids } from '@remit/core/base'
import type { Deps, DocumentChange, DocumentKind, DocumentObject } from '@remit/core/module'
import type { EntryData, EntryDraft } from '@remit/core/ledger/lanes'
import { settingsChange } from '@remit/core/orgs'
import { readOrganization } from '@remit/core/orgs/settings'
import type { ReadRoster } from '../agents/agents.ts'
import { deleteApprovalRule, putApprovalRule } from '../approvals/routes.ts'
import { checkRule, wireRule } from '../approvals/rule.ts'
import { listRules as listApprovalRules } from '../approvals/store.ts'
import { checkAmong, checkChildless } from '../budgets/checks.ts'
import type { Placed } from '../budgets/checks.ts'
import { removeBudget, requireFree, setBudget } from '../budgets/routes.ts'
import { inputOf } from '../budgets/tree.ts'
import { listBudgets, listLimits } from '../budgets/store.ts'
import { termsOf } from '../delegation/permission.ts'
import { putAgentMode, putGrant, revokePermission } from '../delegation/routes.ts'
import { listModes, listPermissions } from '../delegation/store.ts'
import { isPattern, MAX_PATTERN_DENIES } from '../delegation/grant.ts'
import { MAX_BROAD_RULES, toPolicy } from '../policies/policy.ts'
import { admitPolicy, deletePolicy, putPolicy } from '../policies/routes.ts'
import { listRules as listPolicies } from '../policies/store.ts'
import { isBroad } from '../rules/rule-index.ts'
import { admitCondition } from '../rules/admit-condition.ts'
import { deleteSpendLimit, putSpendLimit } from '../budgets/limit-routes.ts'
import { recordedLimit } from '../budgets/limits.ts'

const none = () => []
const whereId = (ids: readonly string[] | undefined) => (ids ? { where: { id: ids } } : {})
const whereAgent = (ids: readonly string[] | undefined) => (ids ? { where: { agent_id: ids } } : {})

/** The settings that documents can describe. */
const settingsIn = ({
  default_effect,
  unknown_agents,
  require_agent_credentials,
  require_separate_keys,
  four_eyes,
  consequential_actions,
}: EntryData<'organization.updated'>['organization']['settings']) => ({
  default_effect,
  unknown_agents,
  require_agent_credentials,
  require_separate_keys,
  four_eyes,
  consequential_actions,
})

/** The change of an entry that creates or replaces an object, or deletes it. */
const changeOf = <Wire extends object>(
  id: string,
  { replaced = null }: Pick<EntryDraft, 'replaced'>,
  stored: Wire,
  specOf: (stored: Wire) => Record<string, unknown>,
  isDeleted: boolean,
): DocumentChange => {
  const spec = specOf(stored)
  const before = replaced === null ? null : specOf(replaced as Wire)
  return isDeleted ? { id, before: spec, after: null } : { id, before, after: spec }
}

const settings: DocumentKind<DocumentSpec<'Settings'>> = {
  kind: 'Settings',
  idOf: () => SETTINGS_ID,
  list: async (db, orgId) => [
    { id: SETTINGS_ID, spec: settingsIn((await readOrganization(db, orgId)).settings) },
  ],
  admit: (_, spec) => ({ warnings: none, set: settingsChange(spec) }),
  remove: null,
  changesOf: (entry) =>
    entry.kind === 'organization.updated'
      ? [changeOf(SETTINGS_ID, entry, entry.data.organization.settings, settingsIn, false)]
      : [],
}

const policySpec = ({
  id: _id,
  created_at: _at,
  created_by: _by,
  updated_at: _updated,
  revision: _revision,
  ...spec
}: EntryData<'policy.created'>['policy']) => spec

const policies = (made: Ids): DocumentKind<DocumentSpec<'Policy'>> => ({
  kind: 'Policy',
  idOf: (name) => name,
  list: async (db, orgId, ids) =>
    (await listPolicies(db, orgId, whereId(ids))).map((row) => ({
      id: row.id,
      spec: policySpec(toPolicy(row)),
    })),
  admit(name, spec) {
    const admitted = admitPolicy(spec)
    return {
      warnings: admitted.warnings,
      set: (scope, caller) => putPolicy(made, name, 'any_or_nothing', admitted)(scope, caller),
    }
  },
  remove: (id) => deletePolicy(id, undefined),
  limits: ({ policies: most }) => [
    { code: 'too_many_policies', most: most ?? Infinity, countsFor: () => ['all'] },
    {
      code: 'too_many_broad_rules',
      most: MAX_BROAD_RULES,
      countsFor: (spec) => (isBroad(spec) ? ['broad'] : []),
    },
  ],
  changesOf(entry) {
    const { kind, data } = entry
    if (kind !== 'policy.created' && kind !== 'policy.updated' && kind !== 'policy.deleted')
      return []
    const { policy } = data
    return [changeOf(policy.id, entry, policy, policySpec, kind === 'policy.deleted')]
  },
})

const approvalSpec = ({
  id: _id,
  created_at: _at,
  created_by: _by,
  updated_at: _updated,
  ...spec
}: EntryData<'approval_rule.set'>['approval_rule']) => spec

const approvalRules: DocumentKind<DocumentSpec<'ApprovalRule'>> = {
  kind: 'ApprovalRule',
  idOf: (name) => name,
  list: async (db, orgId, ids) =>
    (await listApprovalRules(db, orgId, whereId(ids))).map((row) => ({
      id: row.id,
      spec: approvalSpec(wireRule(row)),
    })),
  admit(name, spec) {
    const warnings = checkRule(spec)
    return { warnings: () => warnings, set: putApprovalRule(name, spec) }
  },
  remove: (id) => deleteApprovalRule(id),
  changesOf(entry) {
    const { kind, data } = entry
    if (kind !== 'approval_rule.set' && kind !== 'approval_rule.removed') return []
    const { approval_rule: rule } = data
    return [changeOf(rule.id, entry, rule, approvalSpec, kind === 'approval_rule.removed')]
  },
}

type PermissionTerms = Pick<
  EntryData<'permission.granted'>['permission'],
  keyof ReturnType<typeof termsOf>
>

const permissionSpec = (permission: PermissionTerms) => ({
  agent_id: permission.agent_id,
  effect: permission.effect,
  actions: permission.actions,
  resources: permission.resources,
  condition: permission.condition,
  parent_id: permission.parent_id,
  granted_by: permission.granted_by,
  can_delegate: permission.can_delegate,
  max_depth: permission.max_depth,
  not_before: permission.not_before,
  expires_at: permission.expires_at,
  description: permission.description,
})

const permissions = (readRoster: ReadRoster): DocumentKind<DocumentSpec<'Permission'>> => ({
  kind: 'Permission',
  idOf: (name) => name,
  list: async (db, orgId, ids) =>
    (
      await listPermissions(db, orgId, { where: { revoked_at: null, ...(ids && { id: ids }) } })
    ).map((row) => ({
      id: row.id,
      spec: termsOf(row),
    })),
  admit(name, spec) {
    admitCondition(spec.condition)
    return { warnings: none, set: putGrant(readRoster, name, spec) }
  },
  remove: (id) => revokePermission(readRoster, id),
  limits: () => [
    {
      code: 'too_many_pattern_denies',
      most: MAX_PATTERN_DENIES,
      countsFor: ({ agent_id: id }) => (isPattern(id) ? ['patterns'] : []),
    },
  ],
  changesOf(entry) {
    const { kind, data } = entry
    if (kind !== 'permission.granted' && kind !== 'permission.revoked') return []
    const { permission } = data
    // Revoked descendants have the effect of the permission.
    return (kind === 'permission.revoked' ? data.revoked : [permission.id]).map((id) =>
      changeOf(id, entry, permission, permissionSpec, kind === 'permission.revoked'),
    )
  },
})

const limitSpec = ({
  created_at: _at,
  created_by: _by,
  updated_at: _updated,
  ...spec
}: EntryData<'spend_limit.set'>['spend_limit']) => spec

const spendLimits: DocumentKind<DocumentSpec<'SpendLimit'>> = {
  kind: 'SpendLimit',
  idOf: (_, { agent_id }) => agent_id,
  list: async (db, orgId, ids) =>
    (await listLimits(db, orgId, whereAgent(ids))).map((row) => ({
      id: row.agent_id,
      spec: limitSpec(recordedLimit(row)),
    })),
  admit: (_, { agent_id, ...limit }) => ({ warnings: none, set: putSpendLimit(agent_id, limit) }),
  remove: deleteSpendLimit,
  changesOf(entry) {
    const { kind, data } = entry
    if (kind !== 'spend_limit.set' && kind !== 'spend_limit.removed') return []
    const { spend_limit: limit } = data
    return [changeOf(limit.agent_id, entry, limit, limitSpec, kind === 'spend_limit.removed')]
  },
}

const budgetSpec = ({
  id: _id,
  uid: _uid,
  created_at: _at,
  created_by: _by,
  updated_at: _updated,
  revision: _revision,
  ...spec
}: EntryData<'budget.set'>['budget']) => spec

// Documents were read with the shape of a budget.
const placedIn = ({ id, spec }: DocumentObject) => ({ ...spec, id }) as unknown as Placed

const budgets = (deps: Pick<Deps, 'ids' | 'offered'>): DocumentKind<DocumentSpec<'Budget'>> => ({
  kind: 'Budget',
  idOf: (name) => name,
  list: async (db, orgId, ids) =>
    (await listBudgets(db, orgId, whereId(ids))).map((row) => ({ id: row.id, spec: inputOf(row) })),
  admit(name, spec) {
    requireFree(name)
    return { warnings: none, set: setBudget(deps, name, spec, null, undefined, true) }
  },
  checkAmong(objects) {
    const all = objects.map(placedIn)
    return ({ id, before, after }) =>
      after
        ? checkAmong(all, placedIn({ id, spec: after }), before && placedIn({ id, spec: before }))
        : checkChildless(all, id)
  },
  remove: removeBudget,
  limits: ({ budgets: most }) => [
    { code: 'too_many_budgets', most: most ?? Infinity, countsFor: () => ['all'] },
  ],
  changesOf(entry) {
    const { kind, data } = entry
    if (kind !== 'budget.set' && kind !== 'budget.removed') return []
    const { budget } = data
    return [changeOf(budget.id, entry, budget, budgetSpec, kind === 'budget.removed')]
  },
})

const modeSpec = ({ agent_id, mode }: DocumentSpec<'AgentMode'>) => ({ agent_id, mode })

const agentModes: DocumentKind<DocumentSpec<'AgentMode'>> = {
  kind: 'AgentMode',
  idOf: (_, { agent_id }) => agent_id,
  list: async (db, orgId, ids) =>
    (await listModes(db, orgId, whereAgent(ids))).map(({ agent_id, mode }) => ({
      id: agent_id,
      spec: { agent_id, mode },
    })),
  admit: (_, { agent_id, mode }) => ({ warnings: none, set: putAgentMode(agent_id, mode) }),
  remove: null,
  changesOf: (entry) =>
    entry.kind === 'agent_mode.set'
      ? [changeOf(entry.data.agent_id, entry, entry.data, modeSpec, false)]
      : [],
}

/** The kinds of this package. */
export const documentKinds = (
  readRoster: ReadRoster,
  deps: Pick<Deps, 'ids' | 'offered'>,
): readonly DocumentKind[] => [
  settings,
  policies(deps.ids),
  approvalRules,
  permissions(readRoster),
  spendLimits,
  budgets(deps),
  agentModes,
]
