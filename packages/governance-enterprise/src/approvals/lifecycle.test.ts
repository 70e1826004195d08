import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { canBecome, endOf, isCoolingDown, statusAt } from './lifecycle.ts'
import type { Status } from './lifecycle.ts'

interface Row {
  readonly name: string
  readonly status: Status
  /** A time of the day; null for none. */
  readonly until: string | null
  readonly now: string
  readonly is: Status
  readonly coolingDown?: boolean
}

const table = JSON.parse(readFileSync(new URL('lifecycle.json', import.meta.url), 'utf8')) as Row[]
const at = (time: string) => `2026-11-20T${time}.000Z`
const ALL: readonly Status[] = [
  'pending',
  'approved',
  'rejected',
  'expired',
  'cancelled',
  'consumed',
  'revoked',
]

describe('the status at a time', () => {
  it.each(table)('of $name is $is', ({ status, until, now, is, coolingDown = false }) => {
    const stored = { status, counts_until: until && at(until) }

    expect(statusAt(stored, Date.parse(at(now)))).toBe(is)
    expect(isCoolingDown(stored, Date.parse(at(now)))).toBe(coolingDown)
  })
})

describe('a status', () => {
  it('is left in the ways of the table and in no other', () => {
    const ways = ALL.flatMap((from) =>
      ALL.filter((to) => canBecome(from, to)).map((to) => `${from} ${to}`),
    )

    expect(ways).toEqual([
      'pending approved',
      'pending rejected',
      'pending expired',
      'pending cancelled',
      'approved expired',
      'approved consumed',
      'approved revoked',
    ])
  })

  it('ends after as many seconds, or never counts', () => {
    expect(endOf(Date.parse(at('08:00:00')), 60)).toBe(at('08:01:00'))
    expect(endOf(Date.parse(at('08:00:00')), 0)).toBeNull()
  })
})
