import { describe, expect, it } from 'vitest'
import type { EntryInput } from './support/by-hand.ts'
import {
  agent,
  approval,
  approvalRule,
  change,
  credential,
  day,
  decision,
  exchange,
  organization,
  scorerRun,
} from './support/entries.ts'
import { check, factsOf } from './support/facts.ts'

const born = organization('organization.created', '2025-06-01')
const sound = (at: string): EntryInput => ({ at, kind: 'ledger.verified', data: { valid: true } })
const revoked = (at: string, id: string): EntryInput =>
  change(at, 'credential.revoked', { credential: { id } })
const named = (said: EntryInput, credential_id: string): EntryInput => ({
  ...said,
  data: { ...said.data, credential_id },
})

/** By check, and by where in the ledger the entry is that put its failure right. */
const fixes = (id: string, said: readonly EntryInput[]) =>
  check(factsOf([born, ...said]), id)?.failures.map(({ fixedBy }) => fixedBy ?? null)

describe('a finding names the entry that put it right', () => {
  it('DEC-3: the first denial by the stop after the last allow in spite of it', () => {
    const suspended: EntryInput = {
      ...agent(day(1), 'payer', { status: 'suspended' }),
      kind: 'agent.suspended',
    }
    const denied = (at: string, more: Partial<EntryInput> = {}) =>
      decision(at, { decision: 'deny', reason: 'agent_suspended', ...more })
    const broken = [agent('2025-06-02', 'payer'), suspended, denied(day(2)), decision(day(3))]

    expect(fixes('DEC-3', broken)).toEqual([null])
    expect(fixes('DEC-3', [...broken, denied(day(4), { agent_id: 'other' })])).toEqual([null])
    expect(fixes('DEC-3', [...broken, denied(day(5)), denied(day(6))])).toEqual([5])
    expect(fixes('DEC-3', [...broken, denied(day(5)), decision(day(6))])).toEqual([null])
  })

  it('DEC-1: the last registration of the agents that called before it', () => {
    const asked = ['one', 'two'].map((agent_id) => decision(day(1), { agent_id }))

    expect(fixes('DEC-1', [...asked, agent(day(2), 'one')])).toEqual([null])
    expect(fixes('DEC-1', [...asked, agent(day(2), 'one'), agent(day(3), 'two')])).toEqual([4])
  })

  it.each([
    ['LED-3', decision(day(1)), decision(day(4)), 0.9],
    ['LED-6', sound(day(1)), sound(day(45)), 25],
    ['SCR-1', scorerRun(day(1), 0), scorerRun(day(45), 0), 25],
  ])(
    '%s: what ended the interval, unless another one is open at the end',
    (id, first, next, step) => {
      const last = Math.round((Date.parse(next.at) - Date.parse(day(0))) / 86_400_000)
      const onTime = Array.from({ length: Math.floor((90 - last) / step) }, (_, i) => ({
        ...next,
        at: day(last + (i + 1) * step),
      }))

      expect(fixes(id, [first, next])).toEqual([null])
      expect(fixes(id, [first, next, ...onTime])).toEqual([2])
    },
  )

  it.each(['APR-6', 'CHG-4'])('%s: the first rule after the last decision without one', (id) => {
    const open = organization('organization.updated', day(0), { default_effect: 'allow' })
    const bare = [open, decision(day(1)), decision(day(2))]
    const rules = [approvalRule(day(3), 'first'), approvalRule(day(4), 'second')]

    expect(fixes(id, bare)).toEqual([null])
    expect(fixes(id, [...bare, ...rules, decision(day(5))])).toEqual([4])
  })

  it('ACC-4: the end of the last credential that outlived its agent', () => {
    const removed = { ...change(day(1), 'agent.removed', { agent_id: 'payer' }), agent_id: 'payer' }
    const said = [agent('2025-06-02', 'payer'), credential('2025-06-03', 'cred_1'), removed]

    expect(fixes('ACC-4', said)).toEqual([null])
    expect(fixes('ACC-4', [...said, revoked(day(5), 'cred_1')])).toEqual([4])
  })

  it('SPD-1: the last cap, once all agents that spent without one have one', () => {
    const spent = ['one', 'two'].map((agent_id) =>
      decision(day(1), { agent_id, data: { spend: null, hold: { usd: 5 } } }),
    )
    const cap = (at: string, agent_id: string): EntryInput => ({
      ...change(at, 'spend_limit.set', { spend_limit: { agent_id, daily_usd: 10 } }),
      agent_id,
    })

    expect(fixes('SPD-1', [...spent, cap(day(2), 'one')])).toEqual([null])
    expect(fixes('SPD-1', [...spent, cap(day(2), 'one'), cap(day(3), 'two')])).toEqual([4])
  })

  it('APR-4: the last late vote, where no request waits too long', () => {
    const late = approval(1, 'apr_1', { after: 30 * 3600, expiresAfterDays: 3 })
    const waiting = approval(80, 'apr_2', { vote: null, expiresAfterDays: 30 })

    expect(fixes('APR-4', late)).toEqual([3])
    expect(fixes('APR-4', [...late, ...waiting])).toEqual([null])
  })

  it('ACC-5: the registration of the agent, or the revocation of the credential', () => {
    const early = ['cred_1', 'cred_2'].map((id) => credential(day(1), id, { agent_id: 'late' }))

    expect(fixes('ACC-5', early)).toEqual([null])
    expect(fixes('ACC-5', [...early, revoked(day(2), 'cred_1')])).toEqual([null])
    expect(
      fixes('ACC-5', [...early, revoked(day(2), 'cred_1'), revoked(day(3), 'cred_2')]),
    ).toEqual([4])
    expect(fixes('ACC-5', [...early, agent(day(2), 'late')])).toEqual([3])
  })

  it('TRU-2: the revocation of the last credential that came of it', () => {
    const strange = ['cred_1', 'cred_2'].flatMap((id) => [
      named(exchange(day(1), 'idp_stranger'), id),
      credential(day(1), id, { source: 'exchange' }),
    ])

    expect(fixes('TRU-2', strange)).toEqual([null])
    expect(fixes('TRU-2', [...strange, revoked(day(2), 'cred_2')])).toEqual([null])
    expect(
      fixes('TRU-2', [...strange, revoked(day(2), 'cred_2'), revoked(day(3), 'cred_1')]),
    ).toEqual([6])
  })

  it('SCR-2: the first run within the limit after the last one beyond it', () => {
    const runs = [scorerRun(day(1), 90), scorerRun(day(2), 5), scorerRun(day(3), 80)]

    expect(fixes('SCR-2', runs)).toEqual([null])
    expect(fixes('SCR-2', [...runs, scorerRun(day(4), 10), scorerRun(day(5), 0)])).toEqual([4])
  })
})
