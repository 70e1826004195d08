import { describe, expect, it } from 'vitest'
import type { EntryInput } from '../../test/support/by-hand.ts'
import { agent, approval, change, day, decision, organization } from '../../test/support/entries.ts'
import { factsOf } from '../../test/support/facts.ts'
import { Cases } from './facts.ts'

const daysOf = (...said: readonly EntryInput[]) =>
  factsOf([organization('organization.created', '2025-06-01'), ...said]).days

describe('the days of a period', () => {
  it('are those with decisions or votes, each once', () => {
    expect(
      daysOf(
        decision(day(1)),
        decision(day(1, 5)),
        decision(day(3)),
        agent(day(4), 'payer'),
        // The request is a decision; the vote comes two days later.
        ...approval(7, 'apr_1', { after: 2 * 86_400 }),
      ),
    ).toMatchObject({ use: 4, first_to_last: 8 })
  })

  it('are none with entries that show no use, or before the period', () => {
    const beat = { at: day(5), kind: 'ledger.heartbeat', data: {} }
    const appended = change(day(6), 'entry.appended', {})
    const erased = { ...decision(day(7)), erased: true }

    expect(daysOf(decision(day(-2)), agent(day(4), 'payer'), beat, appended, erased)).toEqual({
      use: 0,
      first_to_last: 0,
      record: 92,
      organization: 304,
    })
  })

  it('of record begin with the oldest decision that was not erased', () => {
    const erased = { ...decision(day(-100)), erased: true }

    expect(daysOf(erased, agent(day(-30), 'payer'), decision(day(75))).record).toBe(15)
    expect(daysOf(erased, agent(day(-30), 'payer')).record).toBe(0)
  })

  it('since the organization was created begin with the oldest decision if no entry says it', () => {
    expect(factsOf([decision(day(-10))]).days.organization).toBe(100)
  })
})

it('the days of cases count once, also if the clock went back', () => {
  const cases = new Cases()
  for (const at of [day(2), day(1), day(2, 1), day(3)]) cases.add(Date.parse(at))

  expect([cases.count, cases.days]).toEqual([4, 2])
})
