import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import {
  approved,
  ask,
  decide,
  kinds,
  open,
  read,
  setRule,
  TRANSFER,
} from '../support/approvals.ts'

describe.each(someDialects())('an approval on %s', (dialect) => {
  let first: Api
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock()
    first = await createApi({ dialect, clock })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    api = first.as(await first.remit.organization())
    await setRule(api, { description: 'A second pair of eyes.' })
  })

  it('is requested, granted, used, and requested again', async () => {
    const asked = await ask(api)
    expect(asked).toMatchObject({
      decision: 'needs_approval',
      reason: 'approval_required',
      message: 'A second pair of eyes.',
      matched: [{ kind: 'approval_rule', id: 'large' }],
      approval: { status: 'pending', expires_at: '2026-11-21T08:00:00.000Z' },
    })
    expect(asked.request_id).toBe(asked.approval?.id)
    const id = asked.approval?.id ?? ''
    expect(await read(api, id)).toMatchObject({
      status: 'pending',
      agent_id: 'payer',
      context: TRANSFER.context,
      resource: null,
      decision_id: asked.decision_id,
      votes: [],
    })

    const decided = await decide(api, id, { decision: 'approve', comment: 'fine' })
    expect(decided).toMatchObject({
      status: 'approved',
      decided_at: '2026-11-20T08:00:00.000Z',
      usable_until: '2026-11-20T09:00:00.000Z',
      votes: [{ decision: 'approve', comment: 'fine', approver: { type: 'key', named: false } }],
    })

    const allowed = await ask(api)
    expect(allowed).toMatchObject({
      decision: 'allow',
      reason: 'approved',
      approval: { id, status: 'consumed' },
      matched: [{ kind: 'approval_rule', id: 'large' }],
    })
    expect(await read(api, id)).toMatchObject({
      status: 'consumed',
      consumed_at: '2026-11-20T08:00:00.000Z',
      consumed_by: allowed.decision_id,
    })
    const again = await ask(api)
    expect(again.decision).toBe('needs_approval')
    expect(again.approval?.id).not.toBe(id)
    expect(await kinds(api)).toEqual([
      'approval.requested',
      'approval.decided',
      'approval.consumed',
      'approval.requested',
    ])
    const entry = await api.ok('getEntry', { params: { seq: allowed.ledger.seq } })
    expect(entry.data).toMatchObject({ approval: { id, status: 'consumed' } })
  })

  it('is one request, however often it is repeated while pending', async () => {
    const ids = new Set<string>()
    for (let turn = 0; turn < 3; turn++) ids.add(await open(api))
    for (const id of await Promise.all(Array.from({ length: 20 }, () => open(api)))) ids.add(id)

    expect(ids.size).toBe(1)
    expect(await kinds(api)).toEqual(['approval.requested'])
  })

  it('lets exactly one of twenty simultaneous requests through', async () => {
    const id = await approved(api)

    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(api)))

    const allows = answers.filter(({ decision }) => decision === 'allow')
    expect(allows.map(({ approval }) => approval?.id)).toEqual([id])
    const others = answers.filter(({ decision }) => decision !== 'allow')
    expect(new Set(others.map(({ approval }) => approval?.id)).size).toBe(1)
    expect(others.map(({ decision }) => decision)).toEqual(Array(19).fill('needs_approval'))
  })

  it('is not requested again during the cooldown after a rejection', async () => {
    const id = await open(api)
    await decide(api, id, { decision: 'deny' })

    expect(await ask(api)).toMatchObject({
      decision: 'deny',
      reason: 'approval_rejected',
      approval: { id, status: 'rejected', expires_at: '2026-11-20T09:00:00.000Z' },
    })
    clock.set('2026-11-20T08:59:59.999Z')
    expect((await ask(api)).decision).toBe('deny')
    clock.set('2026-11-20T09:00:00.000Z')
    const later = await ask(api)
    expect(later.decision).toBe('needs_approval')
    expect(later.approval?.id).not.toBe(id)
    expect((await read(api, id)).status).toBe('rejected')
  })
})
