/** The objects of this package as documents of policy sets. */
import { SETTINGS_ID } from '@remit/contract'
import type { DocumentSpec } from '@remit/contract'
import type { Ids } from '@remit/core/base'
import type { Deps, DocumentKind } from '@remit/core/module'
import { settingsChange } from '@remit/core/orgs'
import { readOrganization } from '@remit/core/orgs/settings'
import type { ReadRoster } from '../agents/agents.ts'
import { deleteApprovalRule, putApprovalRule } from '../approvals/routes.ts'
import { checkRule, wireRule } from '../approvals/rule.ts'
import { listRules as listApprovalRules } from '../approvals/store.ts'
import { removeBudget, setBudget } from '../budgets/routes.ts'
import { inputOf, listBudgets } from '../budgets/tree.ts'
import { termsOf } from '../delegation/permission.ts'
import { putAgentMode, putGrant, revokePermission } from '../delegation/routes.ts'
import { listModes, listPermissions } from '../delegation/store.ts'
import { toPolicy } from '../policies/policy.ts'
import { admitPolicy, deletePolicy, putPolicy } from '../policies/routes.ts'
import { listRules as listPolicies } from '../policies/store.ts'
import { admitCondition } from '../rules/admit-condition.ts'
import { deleteSpendLimit, putSpendLimit } from '../spend/routes.ts'
import { listLimits } from '../spend/limits-store.ts'
import { recordedLimit } from '../spend/usage.ts'

const none = () => []
const whereId = (ids: readonly string[] | undefined) => (ids ? { where: { id: ids } } : {})
const whereAgent = (ids: readonly string[] | undefined) => (ids ? { where: { agent_id: ids } } : {})

const settings: DocumentKind<DocumentSpec<'Settings'>> = {
  kind: 'Settings',
  idOf: () => SETTINGS_ID,
  list: async (db, orgId) => {
    const {
      default_effect,
      unknown_agents,
      require_agent_credentials,
      require_separate_keys,
      four_eyes,
      consequential_actions,
    } = (await readOrganization(db, orgId)).settings
    const spec = {
      default_effect,
      unknown_agents,
      require_agent_credentials,
      require_separate_keys,
      four_eyes,
      consequential_actions,
    }
    return [{ id: SETTINGS_ID, spec }]
  },
  admit: (_, spec) => ({ warnings: none, set: settingsChange(spec) }),
  remove: null,
  changedBy: ({ kind }) => (kind === 'organization.updated' ? [SETTINGS_ID] : []),
}

const policies = (made: Ids): DocumentKind<DocumentSpec<'Policy'>> => ({
  kind: 'Policy',
  idOf: (name) => name,
  list: async (db, orgId, ids) =>
    (await listPolicies(db, orgId, whereId(ids))).map((row) => {
      const {
        id,
        created_at: _,
        created_by: _by,
        updated_at: _at,
        revision: _revision,
        ...spec
      } = toPolicy(row)
      return { id, spec }
    }),
  admit(name, spec) {
    const admitted = admitPolicy(spec)
    return {
      warnings: admitted.warnings,
      set: (scope, caller) => putPolicy(made, name, 'any_or_nothing', admitted)(scope, caller),
    }
  },
  remove: (id) => deletePolicy(id, undefined),
  changedBy: ({ kind, data }) =>
    kind === 'policy.created' || kind === 'policy.updated' || kind === 'policy.deleted'
      ? [data.policy.id]
      : [],
})

const approvalRules: DocumentKind<DocumentSpec<'ApprovalRule'>> = {
  kind: 'ApprovalRule',
  idOf: (name) => name,
  list: async (db, orgId, ids) =>
    (await listApprovalRules(db, orgId, whereId(ids))).map((row) => {
      const { id, created_at: _, created_by: _by, updated_at: _at, ...spec } = wireRule(row)
      return { id, spec }
    }),
  admit(name, spec) {
    const warnings = checkRule(spec)
    return { warnings: () => warnings, set: putApprovalRule(name, spec) }
  },
  remove: (id) => deleteApprovalRule(id),
  changedBy: ({ kind, data }) =>
    kind === 'approval_rule.set' || kind === 'approval_rule.removed' ? [data.approval_rule.id] : [],
}

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
  changedBy(entry) {
    if (entry.kind === 'permission.granted') return [entry.data.permission.id]
    return entry.kind === 'permission.revoked' ? entry.data.revoked : []
  },
})

const spendLimits: DocumentKind<DocumentSpec<'SpendLimit'>> = {
  kind: 'SpendLimit',
  idOf: (_, { agent_id }) => agent_id,
  list: async (db, orgId, ids) =>
    (await listLimits(db, orgId, whereAgent(ids))).map((row) => {
      const { created_at: _, created_by: _by, updated_at: _at, ...spec } = recordedLimit(row)
      return { id: row.agent_id, spec }
    }),
  admit: (_, { agent_id, ...limit }) => ({ warnings: none, set: putSpendLimit(agent_id, limit) }),
  remove: deleteSpendLimit,
  changedBy({ kind, agent_id: agentId = null }) {
    const isOne = kind === 'spend_limit.set' || kind === 'spend_limit.removed'
    return isOne && agentId !== null ? [agentId] : []
  },
}

const budgets = (deps: Pick<Deps, 'ids' | 'offered'>): DocumentKind<DocumentSpec<'Budget'>> => ({
  kind: 'Budget',
  idOf: (name) => name,
  list: async (db, orgId, ids) =>
    (await listBudgets(db, orgId, whereId(ids))).map((row) => ({ id: row.id, spec: inputOf(row) })),
  admit: (name, spec) => ({ warnings: none, set: setBudget(deps, name, spec, null) }),
  remove: removeBudget,
  changedBy: ({ kind, data }) =>
    kind === 'budget.set' || kind === 'budget.removed' ? [data.budget.id] : [],
})

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
  changedBy: ({ kind, data }) => (kind === 'agent_mode.set' ? [data.agent_id] : []),
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
