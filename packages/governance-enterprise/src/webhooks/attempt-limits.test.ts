import { expect, it } from 'vitest'
import { AttemptLimits } from './attempt-limits.ts'

const waiting = (...orgs: string[]) => orgs.map((org_id, seq) => ({ org_id, seq }))
const orgsOf = (rows: readonly { org_id: string }[]) => rows.map(({ org_id }) => org_id).join('')

it('selects in order, within the limits per organization and in total', () => {
  const turns = new AttemptLimits({ total: 4, each: 2 })

  expect(orgsOf(turns.choose(waiting('a', 'a', 'a', 'b', 'c', 'd', 'e')))).toBe('aabc')
})

it('counts what is under way until it ends', () => {
  const turns = new AttemptLimits({ total: 3, each: 2 })
  for (const org of ['a', 'a', 'b']) turns.begin(org)
  expect([turns.isFull, turns.full(), turns.choose(waiting('c'))]).toEqual([true, ['a'], []])

  turns.end('a')

  expect([turns.isFull, turns.full()]).toEqual([false, []])
  expect(orgsOf(turns.choose(waiting('b', 'a', 'c')))).toBe('b')
})
