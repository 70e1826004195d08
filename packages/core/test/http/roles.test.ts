import { Role } from '@remit/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestRemit } from '@remit/testing'
import type { TestRemit } from '@remit/testing'
import { ALL, pathOf, standIn } from './support.ts'

const cases = ALL.flatMap(([name, endpoint]) =>
  Role.options.map((role) => ({
    name,
    endpoint,
    role,
    may:
      role === 'admin' || endpoint.public || endpoint.anyPrincipal || endpoint.roles.includes(role)
        ? 'may'
        : 'may not',
  })),
)

describe('roles', () => {
  let remit: TestRemit
  const keys = new Map<Role, string>()
  beforeAll(async () => {
    remit = await createTestRemit({ modules: [standIn] })
    const { id, key } = await remit.organization()
    for (const role of Role.options)
      keys.set(role, role === 'admin' ? key : await remit.key(id, role))
  })
  afterAll(() => remit.close())

  it.each(cases)('$role $may call $name', async ({ endpoint, role, may }) => {
    const response = await remit.call(endpoint.method, pathOf(endpoint), {
      key: keys.get(role) ?? '',
      ...(endpoint.body && { body: {} }),
    })

    const { code } = (await response
      .clone()
      .json()
      .catch(() => ({}))) as { code?: string }
    expect(code === 'role_required').toBe(may === 'may not')
    expect(response.status === 403 && code !== 'csrf_refused').toBe(may === 'may not')
  })

  it('a key that reads never changes anything, and one that brings data in removes nothing', () => {
    const may = (role: Role, method: string) =>
      ALL.filter(([, endpoint]) => endpoint.method === method && endpoint.roles.includes(role))

    expect(may('read', 'GET').length).toBeGreaterThan(0)
    // Reading more than a page leaves one entry that says so.
    expect(
      may('read', 'POST')
        .map(([name]) => name)
        .toSorted(),
    ).toEqual([
      'checkContent',
      'dryRunPolicies',
      'planPolicySet',
      'replayPolicies',
      'runScorer',
      'verifyLedger',
    ])
    expect(may('read', 'DELETE')).toEqual([])
    expect(may('ingest', 'DELETE')).toEqual([])
    expect(Role.options.flatMap((role) => may(role, 'PATCH'))).toEqual([])
  })
})
