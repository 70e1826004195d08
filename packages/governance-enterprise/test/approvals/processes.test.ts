import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { recordExpired } from '../../src/approvals/sweeper.ts'
import { apiOf, createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import {
  another,
  approved,
  ask,
  decide,
  kinds,
  open,
  read,
  setRule,
  TRANSFER,
} from '../support/approvals.ts'
import { openEvents } from '../support/events.ts'

/**
 * The product, asked again where it waited for the other process until its time was over, as on a loaded machine: such
 * an answer has no effects.
 */
function patient(api: Api, org: Api['org']): Api {
  const { remit } = api
  const call: typeof remit.call = async (...request) => {
    const response = await remit.call(...request)
    if (response.status !== 503) return response
    const { code } = (await response.clone().json()) as { code: string }
    return code === 'ledger_unavailable' ? call(...request) : response
  }
  return apiOf({ ...remit, call }, org)
}

describe('approvals on two processes with one PostgreSQL', () => {
  /** Milliseconds by which both processes are ahead of the real time. */
  let ahead = 0
  const clock = { now: () => Date.now() + ahead }
  let first: Api
  let second: Api
  let here: Api
  let there: Api
  beforeAll(async () => {
    first = await createApi({ dialect: 'postgres', clock })
    second = await another(first, clock)
  })
  afterAll(async () => {
    await second.remit.close()
    await first.remit.close()
  })
  beforeEach(async () => {
    const org = await first.remit.organization()
    here = patient(first, org)
    there = patient(second, org)
    await setRule(here)
  })

  /** Something for each of twenty turns, half of them on each process, at the same time. */
  const twenty = <T>(work: (api: Api, turn: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: 20 }, (_, turn) => work(turn % 2 ? here : there, turn)))

  it('a rule that is set or removed on one counts in the next decision of the other', async () => {
    const request = { ...TRANSFER, action: 'mail.send' }
    const params = { id: 'mail' }
    for (let round = 0; round < 10; round++) {
      await here.ok('setApprovalRule', { params, body: { actions: ['mail.*'] } })
      expect((await ask(there, request)).decision).toBe('needs_approval')
      await there.ok('removeApprovalRule', { params })
      expect((await ask(here, request)).decision).toBe('allow')
    }
  })

  it('an approval lets exactly one of twenty simultaneous requests through', async () => {
    for (let round = 0; round < 5; round++) {
      const id = await approved(here)

      const answers = await twenty((api) => ask(api))

      const allows = answers.filter(({ decision }) => decision === 'allow')
      expect(allows.map(({ approval }) => approval?.id)).toEqual([id])
      const others = answers.filter(({ decision }) => decision === 'needs_approval')
      expect(others).toHaveLength(19)
      const ids = new Set(others.map(({ approval }) => approval?.id ?? ''))
      expect(ids.size).toBe(1)
      for (const pending of ids) await here.ok('cancelApproval', { params: { id: pending } })
    }
  })

  it('twenty simultaneous requests for the same open one request', async () => {
    const ids = await twenty((api) => open(api))

    expect(new Set(ids).size).toBe(1)
    expect(await kinds(here)).toEqual(['approval.requested'])
  })

  it('of votes that contradict each other, one closes the request', async () => {
    const id = await open(here)

    const statuses = await twenty(async (api, turn) => {
      const body = { decision: turn % 3 ? 'approve' : 'reject', approver: `person ${turn}` }
      return (await api.call('decideApproval', { params: { requestID: id }, body })).status
    })

    expect(statuses.toSorted((a, b) => a - b)).toEqual([200, ...Array(19).fill(409)])
    const { votes, status } = await read(there, id)
    expect(votes).toHaveLength(1)
    expect(status).toBe(votes[0]?.decision === 'approve' ? 'approved' : 'rejected')
    expect(await kinds(here)).toEqual(['approval.requested', 'approval.decided'])
  })

  it('an approval is used or taken back, never both', async () => {
    for (let round = 0; round < 10; round++) {
      const request = { ...TRANSFER, context: { round } }
      const id = await approved(here, request)

      const [answer, revoked] = await Promise.all([
        ask(here, request),
        there.call('revokeApproval', { params: { id } }),
      ])

      expect([answer.decision, revoked.status]).toEqual(
        answer.decision === 'allow' ? ['allow', 409] : ['needs_approval', 200],
      )
    }
  })

  it('a waiter on one process gets the vote on the other', async () => {
    const times: number[] = []
    for (let round = 0; round < 5; round++) {
      const id = await open(here, { ...TRANSFER, context: { round } })
      const begin = performance.now()
      const waiting = here.ok('getApproval', { params: { id }, query: { wait: 30 } })
      await decide(there, id)

      expect((await waiting).status).toBe('approved')
      times.push(performance.now() - begin)
    }
    // Without signals, every round takes 5 seconds, the interval of polling. A busy machine delays some.
    expect(Math.min(...times)).toBeLessThan(4_000)
  })

  it('a stream on one process sends the events of the other', async () => {
    const events = await openEvents(here)
    const id = await open(there)
    await decide(there, id)

    expect((await events.next(2)).map(({ event }) => event)).toEqual([
      'approval.requested',
      'approval.decided',
    ])
    await events.leave()
  })

  it('an expiry is recorded once, by either process', async () => {
    await setRule(here, {
      request_ttl_seconds: 1,
      approval_ttl_seconds: 1,
      rejection_cooldown_seconds: 1,
    })
    const rejected = await open(here, { ...TRANSFER, context: { rejected: 1 } })
    await decide(here, rejected, { decision: 'reject' })
    const pending = await open(here)
    const unused = await approved(there, { ...TRANSFER, context: { other: 1 } })
    ahead += 1_100

    const log = pino({ level: 'silent' })
    await Promise.all(
      [here, there, here, there].map(({ remit: { db, writer } }) =>
        recordExpired({ db, writer, clock, log }),
      ),
    )

    const all = await kinds(here)
    expect(all.filter((kind) => kind === 'approval.expired')).toHaveLength(2)
    for (const id of [pending, unused]) {
      const approval = await read(there, id)
      expect(approval.status).toBe('expired')
      expect(approval.closed_at).not.toBeNull()
    }
    expect((await read(here, rejected)).status).toBe('rejected')
    expect(await open(here)).not.toBe(pending)
  })
})
