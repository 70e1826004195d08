import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { aPermission, aRoster } from '../../test/support/permissions.ts'
import { anAsk } from '../../test/support/rules.ts'
import { rulesOf, evaluatePermissions } from './authority.ts'
import type { PermissionResult } from './authority.ts'
import { toPermission } from './permission.ts'

interface Row {
  readonly name: string
  readonly permissions?: readonly Parameters<typeof aPermission>[0][]
  readonly granted?: readonly string[]
  readonly suspended?: readonly string[]
  /** Of `payer`, who wants to do `payments.transfer`. */
  readonly ask?: { readonly resource?: string; readonly context?: Record<string, unknown> }
  readonly says: string
  readonly by?: string | readonly string[] | undefined
}

const rows = JSON.parse(readFileSync(new URL('decisions.json', import.meta.url), 'utf8')) as Row[]
const unhurried = { isOver: () => false }

function decide({ permissions = [], granted = [], suspended = [], ask = {} }: Row) {
  const compiled = permissions.map((one) => toPermission(aPermission(one)))
  const roster = aRoster(suspended)
  return evaluatePermissions(
    anAsk(ask),
    { ...rulesOf(compiled, new Set(granted)), ...roster },
    unhurried,
  )
}

/** The chain that grants, or the permission that denies. */
function saidBy(standing: PermissionResult): Row['by'] {
  if (standing.says === 'granted') return standing.chain.links.map(({ id }) => id)
  return standing.says === 'denied' ? standing.by.id : undefined
}

describe('the result of permissions', () => {
  it.each(rows)('$name: $says', (row) => {
    expect(saidBy(decide(row))).toEqual(row.by)
    expect(decide(row).says).toBe(row.says)
  })

  it('no grant when the decision exceeds its time limit', () => {
    const grants = Array.from({ length: 20 }, (_, i) =>
      toPermission(aPermission({ id: `p${i}`, condition: 'context.amount == 1' })),
    )
    const last = toPermission(aPermission({ id: 'last' }))
    const rules = rulesOf([...grants, last], new Set(['payer']))
    const authority = { ...rules, ...aRoster() }

    expect(evaluatePermissions(anAsk(), authority, { isOver: () => true }).says).toBe(
      'no_permission',
    )
    expect(evaluatePermissions(anAsk(), authority, unhurried).says).toBe('granted')
  })

  it('no evaluation of all denials when the decision exceeds its time limit: it is denied', () => {
    const others = Array.from({ length: 1_000 }, (_, i) =>
      toPermission(aPermission({ id: `d${i}`, agent_id: '*', effect: 'deny', resources: ['r:1'] })),
    )
    const authority = { ...rulesOf(others, new Set<string>()), ...aRoster() }
    let looks = 0
    const meter = { isOver: () => ++looks >= 2 }

    expect(evaluatePermissions(anAsk(), authority, unhurried).says).toBe('nothing')
    expect(evaluatePermissions(anAsk(), authority, meter).says).toBe('overtime')
    expect(looks).toBe(2)
  })

  it('no search for denials of all delegators when the decision exceeds its time limit', () => {
    const root = { id: 'root', agent_id: 'planner', can_delegate: 1, max_depth: 1 }
    const denies = Array.from({ length: 100 }, (_, i) => ({
      id: `d${i}`,
      agent_id: 'plan*',
      effect: 'deny' as const,
      resources: ['r:1'],
    }))
    const grants = Array.from({ length: 10 }, (_, i) => ({
      id: `g${i}`,
      parent_id: 'root',
      granted_by: 'planner',
    }))
    const compiled = [root, ...grants, ...denies].map((one) => toPermission(aPermission(one)))
    const authority = { ...rulesOf(compiled, new Set(['payer'])), ...aRoster() }
    let looks = 0
    const meter = { isOver: () => ++looks > 10 }

    expect(evaluatePermissions(anAsk(), authority, unhurried).says).toBe('granted')
    expect(evaluatePermissions(anAsk(), authority, meter).says).toBe('no_permission')
    expect(looks).toBeLessThan(15)
  })
})
