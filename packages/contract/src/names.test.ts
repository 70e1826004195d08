import { describe, expect, it } from 'vitest'
import { contract } from './contract.ts'
import type { EndpointName } from './contract.ts'
import type { Endpoint } from './endpoint.ts'

/** Looks like "pay" and is another name: a variation selector follows. */
const HIDDEN = 'pay\ufe0f'
const OWNER = { type: 'user', id: 'ada' }

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
