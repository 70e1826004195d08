import { freshState, approvalStage, rulesAlone } from '../approvals/stage.ts'
import { on } from '@remit/core/db'
import type { AnyDatabase, CoreTables } from '@remit/core/db'
import type { Ask, Overlay, Slot, SlotState, Stage } from '@remit/core/decision'
import type { Deps, RegisteredAgent } from '@remit/core/module'
import { readOrganization } from '@remit/core/orgs/settings'
import { listRules as listApprovalRules } from '../approvals/store.ts'
import { chainOf, rulesOf } from '../delegation/authority.ts'
import type { AgentAuthority } from '../delegation/authority.ts'
import { listsOverlap, toPermission } from '../delegation/permission.ts'
import { agentStage } from '../delegation/stage.ts'
import { modesSince, permissionsSince } from '../delegation/store.ts'
import type { PolicySnapshot } from '../policies/evaluate.ts'
import { nameIn } from '../policies/overlay.ts'
import { policyStage, storedSnapshot } from '../policies/stage.ts'
import { listEnabledRules } from '../policies/store.ts'
import type { Rule } from '../rules/rule-index.ts'
import type { ApprovalRuleRow } from '../tables/approvals.ts'
import type { PermissionRow } from '../tables/delegation.ts'
import type { PolicyRuleRow } from '../tables/policies.ts'
import { anyMatches } from './names.ts'
import type { NamedProperty } from './search-job.ts'

/** The rules of an organization as plain data, for a thread. */
export interface StoredRules {
  readonly policies: readonly PolicyRuleRow[]
  readonly approvalRules: readonly ApprovalRuleRow[]
  readonly permissions: readonly PermissionRow[]
  /** Agents that act only on grants. */
  readonly granted: readonly string[]
  /** Some registered agents with the attributes that conditions read. */
  readonly agents: readonly (readonly [string, Readonly<Record<string, unknown>>])[]
  readonly defaultEffect: 'allow' | 'deny'
}

/** The properties of a search, and the overlay of the rules in force. */
export interface SearchScope {
  readonly overlay: Overlay
  readonly properties: readonly NamedProperty[]
}

/** Reads the rules of an organization, and the agents that they or the properties may be about. */
export async function readRules(
  { db, offered }: Pick<Deps, 'db' | 'offered'>,
  orgId: string,
  searched: SearchScope,
): Promise<StoredRules> {
  const { settings } = await readOrganization(db, orgId)
  const registry = await offered('agentRegistry')?.load(orgId, db)
  const modes = await modesSince(db, orgId, null)
  const rules = {
    policies: await listEnabledRules(db, orgId),
    approvalRules: await listApprovalRules(db, orgId),
    permissions: await permissionsSince(db, orgId, null),
    granted: modes.flatMap(({ agent_id: id, mode }) => (mode === 'granted' ? [id] : [])),
  }
  return {
    ...rules,
    agents: someOf(registry ?? new Map(), rules, searched),
    defaultEffect: settings.default_effect,
  }
}

// Conditions that read attributes are sampled anyway.
const MAX_AGENTS = 500

/** All agents that a rule or a property names, and some of the others that a property is about. */
function someOf(
  registry: ReadonlyMap<string, Pick<RegisteredAgent, 'attributes'>>,
  rules: object,
  searched: SearchScope,
): StoredRules['agents'] {
  const patterns = [...new Set(searched.properties.flatMap(({ spec }) => spec.for.agents))]
  // Each text in quotes, also in a condition, may be a name.
  const named =
    registry.size > MAX_AGENTS && new Set(JSON.stringify([rules, searched]).split(/["'\\]+/))
  let others = MAX_AGENTS
  return [...registry]
    .filter(([id]) => {
      if (!named || named.has(id)) return true
      return others > 0 && anyMatches(patterns, id) && others-- > 0
    })
    .map(([id, { attributes }]) => [id, attributes])
}

/** The version of the configuration. */
export async function versionOf(db: AnyDatabase, orgId: string): Promise<number> {
  const head = await on<CoreTables>(db)
    .selectFrom('ledger_head')
    .select('config_version')
    .where('org_id', '=', orgId)
    .executeTakeFirst()
  return head?.config_version ?? 0
}

/** A rule that takes part in decisions, with its name. */
export interface NamedRule extends Rule {
  readonly label: string
}

/** Patterns of requests. */
type Scope = Pick<Rule, 'agents' | 'actions' | 'resources'>

/** The stages of live decisions without spend, where nothing was requested before. */
export class RuleStages {
  readonly authority: AgentAuthority
  readonly slots: ReadonlyMap<Slot, SlotState>
  readonly #approval: SlotState
  readonly #policies: PolicySnapshot
  readonly #approvals: ReturnType<typeof rulesAlone>

  readonly #added: readonly string[]

  /** `added` are the names of the policies that the overlay adds, in order. */
  constructor(stored: StoredRules, overlay: Overlay, added: readonly string[] = []) {
    this.#added = added
    const { policies, approvalRules, permissions, granted, agents, defaultEffect } = stored
    const roster = agents.map(
      ([id, attributes]) =>
        [id, { status: 'active', reason: null, owners: [], attributes }] as const,
    )
    const own: AgentAuthority = {
      ...rulesOf(permissions.map(toPermission), new Set(granted)),
      registry: new Map(roster),
      suspended: new Map(),
      unknownAgents: 'allow',
      ownCredentialsOnly: false,
      hasRegistry: false,
    }
    const none = () => undefined
    const agent = agentStage(() => Promise.reject(new Error('the rules are loaded')))
    const policy = policyStage()
    const approval = approvalStage({ offered: none })
    this.authority = overlaid(agent, own, overlay)
    this.#policies = overlaid(policy, storedSnapshot(policies, defaultEffect), overlay)
    this.#approvals = overlaid(approval, rulesAlone(approvalRules), overlay)
    this.#approval = slot(approval, this.#approvals)
    this.slots = new Map<Slot, SlotState>([
      ['agent_deny', slot(agent, this.authority)],
      ['policy', slot(policy, this.#policies)],
      ['approval_rule', this.#approval],
    ])
  }

  /** The state of the approvals for one request. */
  asked(ask: Ask, matched: unknown): void {
    this.#approval.state = freshState(
      matched === undefined ? new Map() : new Map([[ask, matched as never]]),
    )
  }

  /** The rules that a decision about a request of the scope may read. */
  about(scope: Scope): NamedRule[] {
    const meets = (rule: Scope, fields: readonly (keyof Scope)[]) =>
      fields.every((field) => listsOverlap(rule[field], scope[field]))
    const all = ['agents', 'actions', 'resources'] as const
    const named = (kind: string, rules: readonly Rule[]): NamedRule[] =>
      rules.flatMap((rule) => (meets(rule, all) ? [{ ...rule, label: `${kind} ${rule.id}` }] : []))
    const permissions = [...this.authority.byId.values()].filter(({ isRevoked }) => !isRevoked)
    const denies = permissions.filter(({ effect }) => effect === 'deny')
    const chains = permissions
      .filter((one) => one.effect === 'allow' && meets(one, all))
      .map((one) => chainOf(one, this.authority.byId))
      .filter(({ broken }) => broken === null)
    const above = new Set(chains.flatMap(({ links }) => links.slice(0, -1)))
    const delegators = new Set([...above].map(({ agentId }) => agentId))
    const ofAll = (rules: readonly Rule[]) => rules.map((rule) => ({ ...rule, agents: ['*'] }))
    return [
      ...named(
        'policy',
        this.#policies.rules.map((rule) => ({ ...rule, id: nameIn(this.#added, rule) })),
      ),
      ...named('approval rule', this.#approvals.byMode.enforce),
      ...named('permission', denies),
      ...named(
        'permission',
        chains.flatMap(({ links }) => links.at(-1) ?? []),
      ),
      // A grant depends on those above it, and on what its delegators are denied.
      ...named('permission', ofAll([...above])),
      ...named(
        'permission',
        ofAll(denies.filter((one) => listsOverlap(one.agents, [...delegators]))),
      ),
    ]
  }
}

const slot = (stage: Stage, rules: unknown): SlotState => ({
  stage,
  available: true,
  rules,
  state: rules,
  leftOut: null,
  effects: [],
})

const overlaid = <Snapshot>(
  stage: { overlay?(snapshot: Snapshot, overlay: Overlay): Snapshot },
  own: Snapshot,
  change: Overlay,
): Snapshot => stage.overlay?.(own, change) ?? own
