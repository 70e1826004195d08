import type { Roster } from '../../src/agents/agents.ts'
import type { PermissionRow } from '../../src/tables/delegation.ts'

/** An organization without registered agents, with some suspended ones. */
export const aRoster = (suspended: readonly string[] = []): Roster => ({
  registry: new Map(),
  suspended: new Map(suspended.map((id) => [id, 'test'])),
  unknownAgents: 'allow',
})

/** A permission as the database has it: an allow of everything, but for what is given. */
export function aPermission({
  actions = ['*'],
  resources = ['*'],
  granted_by,
  ...given
}: Partial<Omit<PermissionRow, 'actions' | 'resources'>> & {
  readonly actions?: readonly string[]
  readonly resources?: readonly string[]
  readonly granted_by?: string
} = {}): PermissionRow {
  return {
    org_id: 'org_test',
    id: 'permission',
    agent_id: 'payer',
    effect: 'allow',
    condition: null,
    parent_id: null,
    granted_by_type: granted_by === undefined ? 'key' : 'agent',
    granted_by_id: granted_by ?? 'key_test',
    can_delegate: 0,
    max_depth: 0,
    not_before: null,
    expires_at: null,
    description: null,
    created_at: '2026-11-01T00:00:00.000Z',
    created_by: 'key_test',
    updated_at: '2026-11-01T00:00:00.000Z',
    revoked_at: null,
    revoked_by: null,
    revision: 0,
    ...given,
    actions: JSON.stringify(actions),
    resources: JSON.stringify(resources),
  }
}
