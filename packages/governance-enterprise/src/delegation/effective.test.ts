import { describe, expect, it } from 'vitest'
import { aPermission, aRoster } from '../../test/support/permissions.ts'
import { NOW } from '../../test/support/rules.ts'
import { chainOf } from './authority.ts'
import { effectiveAt } from './effective.ts'
import { toPermission } from './permission.ts'

type Given = Parameters<typeof aPermission>[0]

function effective(rows: readonly Given[], suspended: readonly string[] = []) {
  const permissions = rows.map((row) => toPermission(aPermission(row)))
  const byId = new Map(permissions.map((one) => [one.id, one]))
  const held = permissions.filter((one) => one.effect === 'allow' && one.agentId === 'payer')
  return effectiveAt(
    {
      agentId: 'payer',
      chains: held.map((one) => chainOf(one, byId)),
      denies: permissions.filter((one) => one.effect === 'deny'),
      roster: aRoster(suspended),
    },
    NOW,
  )
}

const root = { id: 'root', agent_id: 'planner', can_delegate: 1, max_depth: 1 }
const child = { id: 'child', parent_id: 'root', granted_by: 'planner' }

describe('the effective permissions of an agent', () => {
  it('is the common part of all links of a chain, until the first of them ends', () => {
    const { grants } = effective([
      {
        ...root,
        actions: ['payments.transfer', 'mail.*'],
        condition: 'context.a',
        expires_at: '2026-12-01T00:00:00.000Z',
      },
      {
        ...child,
        actions: ['payments.*'],
        condition: 'context.b',
        expires_at: '2026-12-02T00:00:00.000Z',
      },
    ])

    expect(grants).toMatchObject([
      {
        id: 'child',
        actions: ['payments.transfer'],
        resources: ['*'],
        conditions: ['context.a', 'context.b'],
        expires_at: '2026-12-01T00:00:00.000Z',
        partial: false,
        chain: [
          { id: 'root', agent_id: 'planner' },
          { id: 'child', granted_by: { type: 'agent', id: 'planner' } },
        ],
        denies: [],
      },
    ])
  })

  it('is partial where patterns overlap in more than can be listed', () => {
    const { grants } = effective([
      { ...root, actions: ['payments.*'] },
      { ...child, actions: ['*.eu'] },
    ])

    expect(grants).toMatchObject([{ actions: [], partial: true }])
  })

  it.each([
    [
      'a chain with nothing in common',
      [
        { ...root, actions: ['a'] },
        { ...child, actions: ['b'] },
      ],
      [],
    ],
    ['a chain that has ended', [{ ...root, expires_at: '2026-11-20T08:00:00.000Z' }, child], []],
    ['a suspended delegator', [root, child], ['planner']],
  ] as const)('is nothing by %s', (_, rows, suspended) => {
    expect(effective(rows, suspended).grants).toEqual([])
  })

  it('names the denies about the agent, and with a grant those that flow down to it', () => {
    const deny = { effect: 'deny', actions: ['payments.refund'] } as const
    const { grants, denies } = effective([
      { ...root, actions: ['payments.*'] },
      { ...child, actions: ['payments.*'] },
      { ...deny, id: 'own', agent_id: 'pay*' },
      { ...deny, id: 'flows', agent_id: 'planner' },
      { ...deny, id: 'elsewhere', agent_id: 'planner', actions: ['mail.*'] },
      { ...deny, id: 'other', agent_id: 'other' },
      { ...deny, id: 'over', agent_id: 'payer', expires_at: '2026-11-20T08:00:00.000Z' },
    ])

    expect(denies.map(({ id }) => id)).toEqual(['own'])
    expect(grants.map((grant) => grant.denies.map(({ id }) => id))).toEqual([['flows']])
  })

  it('contains the time of the next change: a start or an end, also of a future denial', () => {
    const ends = { ...root, agent_id: 'payer', expires_at: '2026-11-20T11:00:00.000Z' }
    const begins = { id: 'next', not_before: '2026-11-20T10:00:00.000Z' }
    const denies = { id: 'no', effect: 'deny', not_before: '2026-11-20T09:00:00.000Z' } as const

    expect(effective([{ ...root, agent_id: 'payer' }]).changes_at).toBeNull()
    expect(effective([ends]).changes_at).toBe('2026-11-20T11:00:00.000Z')
    expect(effective([ends, begins]).changes_at).toBe('2026-11-20T10:00:00.000Z')
    expect(effective([ends, begins, denies]).changes_at).toBe('2026-11-20T09:00:00.000Z')
  })

  it.each([
    ['denials of delegators', 400, 400, ['*']],
    ['patterns', 100, 100, Array.from({ length: 50 }, (_, i) => `pay.${i}.*`)],
    ['texts', 2_000, 0, Array.from({ length: 50 }, (_, i) => `pay.${i}`)],
  ])(
    'are refused where there are too many %s to list at once',
    (_what, grants, denies, actions) => {
      const many = [
        { ...root, actions: ['*'] },
        ...Array.from({ length: grants }, (_, i) => ({ ...child, id: `g${i}`, actions })),
        ...Array.from({ length: denies }, (_, i) => ({
          id: `d${i}`,
          agent_id: 'planner',
          effect: 'deny' as const,
          actions,
        })),
      ]

      expect(() => effective(many)).toThrow('GET /v1/delegation')
      expect(effective(many.slice(0, 50)).grants).toHaveLength(49)
    },
  )
})
