import { expect, it } from 'vitest'
import { AttemptLimits } from './attempt-limits.ts'

const waiting = (...orgs: string[]) => orgs.map((org_id, seq) => ({ org_id, seq }))
const orgsOf = (rows: readonly { org_id: string }[]) => rows.map(({ org_id }) => org_id).join('')
const many = (org: string) => Array.from({ length: 20 }, () => org)

it('selects in order, within the limits per organization and in total', () => {
  const turns = new AttemptLimits({ total: 17, each: 2 })

  expect(orgsOf(turns.choose(waiting('a', 'a', 'a', 'b', 'b', 'c')))).toBe('aabbc')
})

it('counts running attempts until they end', () => {
  const turns = new AttemptLimits({ total: 3, each: 2 })
  for (const org of ['a', 'b', 'c']) turns.begin(org)
  expect([turns.isFull, turns.full(), turns.choose(waiting('d'))]).toEqual([
    true,
    ['a', 'b', 'c'],
    [],
  ])

  turns.end('a')

  expect([turns.isFull, turns.full()]).toEqual([false, ['b', 'c']])
  expect(orgsOf(turns.choose(waiting('b', 'a', 'd')))).toBe('a')
})

it('leaves attempts to others beside ten organizations with slow receivers', () => {
  const turns = new AttemptLimits({ total: 64, each: 8 })
  const slow = 'abcdefghij'.split('')
  for (const org of slow) {
    for (const row of turns.choose(waiting(...slow.flatMap(many)))) turns.begin(row.org_id)
    for (const row of turns.choose(waiting(...many(org)))) turns.begin(row.org_id)
  }

  expect(turns.full()).toEqual(slow)
  expect(orgsOf(turns.choose(waiting(...slow.flatMap(many), 'z')))).toBe('z')
})
