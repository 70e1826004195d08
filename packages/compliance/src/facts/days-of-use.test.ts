import { describe, expect, it } from 'vitest'
import type { EntryInput } from '../../test/support/by-hand.ts'
import {
  ADA,
  agent,
  approval,
  BO,
  change,
  day,
  decision,
  organization,
} from '../../test/support/entries.ts'
import { factsOf } from '../../test/support/facts.ts'
import { DaysOfUse } from './days-of-use.ts'
import { DECIDED, LazyEntry } from './lazy-entry.ts'
import { FactState } from './state/state.ts'

const SHARED = { type: 'key', id: BO.id, named: false }
const daysOf = (...said: readonly EntryInput[]) =>
  factsOf([organization('organization.created', '2025-06-01'), ...said]).days

describe('the days of a period', () => {
  it('are those with decisions, votes or changes, each once', () => {
    expect(
      daysOf(
        decision(day(1)),
        decision(day(1, 5)),
        decision(day(3)),
        agent(day(4), 'payer'),
        ...approval(7, 'apr_1'),
        ...approval(9, 'apr_2', { by: SHARED }),
      ),
    ).toMatchObject({ use: 5, decisions: 4, requests: 2, votes: 1, first_to_last: 8 })
  })

  it('are none with entries that show no use, or before the period', () => {
    const beat = { at: day(5), kind: 'ledger.heartbeat', data: {} }
    const appended = change(day(6), 'entry.appended', {})
    const erased = { ...decision(day(7)), erased: true }

    expect(daysOf(decision(day(-2)), beat, appended, erased)).toMatchObject({
      use: 0,
      decisions: 0,
      first_to_last: 0,
      record: 92,
      organization: 304,
    })
  })

  it('count once if the clock went back', () => {
    const days = new DaysOfUse()
    const state = new FactState(0)
    for (const [seq, at] of [day(2), day(1), day(2, 1), day(3)].entries()) {
      const row = { seq, kind: DECIDED, recorded_at: at, payload: '{}' }
      days.add(days.of(DECIDED), new LazyEntry(row, Date.parse(at)), state)
    }
    expect(days.counts).toMatchObject({ use: 2, decisions: 2 })
  })

  it('of record begin with the oldest kept decision', () => {
    expect(daysOf(agent(day(-30), 'payer'), decision(day(75))).record).toBe(15)
    expect(daysOf(agent(day(-30), 'payer')).record).toBe(0)
  })

  it('since the organization was created begin with the oldest decision if no entry says it', () => {
    const pruned = [{ ...decision(day(-10)), actor: ADA }]
    expect(factsOf(pruned).days.organization).toBe(100)
  })
})
