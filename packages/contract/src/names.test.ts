import { describe, expect, it } from 'vitest'
import { contract } from './contract.ts'
import type { EndpointName } from './contract.ts'
import type { Endpoint } from './endpoint.ts'

/** Looks like "pay" and is another name: a variation selector follows. */
const HIDDEN = 'pay\ufe0f'
const OWNER = { type: 'user', id: 'ada' }
/** Only compared with the agent of a token. */
const LEFT_OUT: readonly string[] = ['exchangeToken body']

// Names are compared wherever a rule, a vote or a delegation is about somebody; none may pass for another.
describe('a name with an invisible character is refused', () => {
  it.each<[EndpointName, object, string]>([
    ['authorize', { agent_id: HIDDEN, action: 'a' }, 'agent_id'],
    ['authorize', { agent_id: 'a', action: HIDDEN }, 'action'],
    ['authorize', { agent_id: 'a', action: 'a', resource: HIDDEN }, 'resource'],
    [
      'authorize',
      { agent_id: 'a', action: 'a', resource: { type: 'x', id: HIDDEN } },
      'resource.id',
    ],
    [
      'authorize',
      { agent_id: 'a', action: 'a', resource: { type: HIDDEN, id: 'x' } },
      'resource.type',
    ],
    ['appendEntry', { action: HIDDEN }, 'action'],
    ['appendEntry', { action: 'a', agent_id: HIDDEN }, 'agent_id'],
    ['appendEntry', { action: 'a', actor: HIDDEN }, 'actor'],
    ['appendEntry', { action: 'a', actor: { type: 'user', id: HIDDEN } }, 'actor.id'],
    ['appendEntry', { action: 'a', resource: HIDDEN }, 'resource'],
    ['checkContent', { content: 'x', agent_id: HIDDEN }, 'agent_id'],
    ['createPolicy', { effect: 'deny', agents: [HIDDEN] }, 'agents.0'],
    ['createPolicy', { effect: 'deny', actions: [`${HIDDEN}*`] }, 'actions.0'],
    ['createPolicy', { effect: 'deny', resources: [HIDDEN] }, 'resources.0'],
    ['setApprovalRule', { approvers: { users: [HIDDEN] } }, 'approvers.users.0'],
    ['setApprovalRule', { approvers: { roles: [HIDDEN] } }, 'approvers.roles.0'],
    ['decideApproval', { decision: 'approve', approver: HIDDEN }, 'approver'],
    ['grantPermission', { agent_id: HIDDEN, actions: ['a'] }, 'agent_id'],
    ['grantPermission', { agent_id: 'a', actions: [HIDDEN] }, 'actions.0'],
    [
      'grantPermission',
      { agent_id: 'a', granted_by: { type: 'user', id: HIDDEN } },
      'granted_by.id',
    ],
    ['registerAgent', { agent_id: HIDDEN, owners: [OWNER] }, 'agent_id'],
    ['registerAgent', { owners: [{ type: 'user', id: HIDDEN }] }, 'owners.0.id'],
    ['createTrustPolicy', { effect: 'allow', source_agents: [HIDDEN] }, 'source_agents.0'],
    ['createTrustPolicy', { effect: 'allow', target_agents: [HIDDEN] }, 'target_agents.0'],
    ['createTrustPolicy', { effect: 'allow', actions: [HIDDEN] }, 'actions.0'],
    [
      'evaluateTrust',
      { source_agent_id: HIDDEN, target_agent_id: 'b', action: 'a' },
      'source_agent_id',
    ],
    [
      'evaluateTrust',
      { source_agent_id: 'a', target_agent_id: HIDDEN, action: 'a' },
      'target_agent_id',
    ],
    ['dryRunPolicies', { agent_id: HIDDEN, action: 'a' }, 'agent_id'],
    [
      'changeOrganization',
      { settings: { consequential_actions: [HIDDEN] } },
      'settings.consequential_actions.0',
    ],
    [
      'accessEvaluation',
      {
        subject: { type: 'agent', id: HIDDEN },
        action: { name: 'a' },
        resource: { type: 'x', id: '1' },
      },
      'subject.id',
    ],
  ])('by %s: %j', (name, body, path) => {
    const endpoint: Endpoint = contract[name]

    const issues = endpoint.body?.safeParse(body).error?.issues ?? []

    expect(issues.map((issue) => issue.path.join('.'))).toContain(path)
  })
})

/** Every place of the contract with the id of one agent. */
type Place = readonly [
  EndpointName,
  'params' | 'query' | 'body',
  (id: string) => object,
  path: string,
]
const PLACES: readonly Place[] = [
  ...(['getSpendLimit', 'getSpendHistory', 'setSpendLimit', 'removeSpendLimit'] as const).map(
    (name) => [name, 'params', (id: string) => ({ id }), 'id'] satisfies Place,
  ),
  ...(
    ['getAgent', 'changeAgent', 'removeAgent', 'listCredentials', 'issueCredential'] as const
  ).map((name) => [name, 'params', (agentID: string) => ({ agentID }), 'agentID'] satisfies Place),
  ['setAgentMode', 'params', (agent_id) => ({ agent_id }), 'agent_id'],
  ...(
    [
      'getDelegation',
      'getEffectivePermissions',
      'listBudgets',
      'listSpendHolds',
      'listEntries',
      'streamEntries',
      'listApprovals',
      'claudeCodeHook',
      'codexHook',
    ] as const
  ).map(
    (name) => [name, 'query', (agent_id: string) => ({ agent_id }), 'agent_id'] satisfies Place,
  ),
  ['authorize', 'body', (agent_id) => ({ agent_id, action: 'a' }), 'agent_id'],
  ['registerAgent', 'body', (agent_id) => ({ agent_id, owners: [OWNER] }), 'agent_id'],
  ['appendEntry', 'body', (agent_id) => ({ action: 'a', agent_id }), 'agent_id'],
  ['checkContent', 'body', (agent_id) => ({ content: 'x', agent_id }), 'agent_id'],
  ['grantPermission', 'body', (agent_id) => ({ agent_id, actions: ['a'] }), 'agent_id'],
  ['dryRunPolicies', 'body', (agent_id) => ({ agent_id, action: 'a' }), 'agent_id'],
  [
    'evaluateTrust',
    'body',
    (id) => ({ source_agent_id: id, target_agent_id: 'b', action: 'a' }),
    'source_agent_id',
  ],
  [
    'evaluateTrust',
    'body',
    (id) => ({ source_agent_id: 'a', target_agent_id: id, action: 'a' }),
    'target_agent_id',
  ],
  [
    'trustIssuer',
    'body',
    (agent_id) => ({
      issuer: 'https://a.example',
      conditions: [{ claim: 'env', equals: 'prod' }],
      agent: { type: 'rules', rules: [{ match: [{ claim: 'env', equals: 1 }], agent_id }] },
    }),
    'agent.rules.0.agent_id',
  ],
]

const faultsOf = (name: EndpointName, part: 'params' | 'query' | 'body', value: object) =>
  (contract[name] as Endpoint)[part]
    ?.safeParse(value)
    .error?.issues.map(({ path }) => path.join('.')) ?? []

describe.each(PLACES)('the id of an agent in %s of %s', (name, part, valueOf, path) => {
  it.each(['user/ada@example.com', 'spiffe://td/ns/x', 'Köln-Bot', 'Data Science', '...', '%2F'])(
    'may be %s',
    (id) => {
      expect(faultsOf(name, part, valueOf(id))).toEqual([])
    },
  )

  it.each([HIDDEN, 'Ko\u0308ln', ' a', 'a\0', '', 'x'.repeat(257)])('is not %j', (id) => {
    expect(faultsOf(name, part, valueOf(id))).toContain(path)
  })

  // A permission has a pattern, which no path contains.
  it.runIf(name !== 'grantPermission').each(['.', '..', 'a*'])(
    'is not %s, which a path cannot have or which is a pattern',
    (id) => {
      expect(faultsOf(name, part, valueOf(id))).toContain(path)
    },
  )
})

it('every parameter for an agent is in that table', () => {
  const named = Object.entries(contract as Record<string, Endpoint>).flatMap(([name, endpoint]) =>
    (['params', 'query', 'body'] as const)
      .filter((part) => {
        const shape = (endpoint[part] as { shape?: object } | undefined)?.shape ?? {}
        return Object.keys(shape).some((key) => /^(?:\w+_)?agent_?id$/i.test(key))
      })
      .map((part) => `${name} ${part}`),
  )
  const listed = new Set(PLACES.map(([name, part]) => `${name} ${part}`))

  expect(named.filter((place) => !listed.has(place))).toEqual(LEFT_OUT)
})
