import { setSettings } from '@remit/core/orgs'
import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import {
  ask,
  decide,
  kinds,
  open,
  personKey,
  read,
  setRule,
  TRANSFER,
} from '../support/approvals.ts'

describe.each(someDialects())('POST /v1/approvals/{requestID}/decide on %s', (dialect) => {
  let first: Api
  let api: Api
  const clock = createClock()
  beforeAll(async () => {
    first = await createApi({ dialect, clock })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    api = first.as(await first.remit.organization())
  })

  const refusal = (requestID: string, body: object = { decision: 'approve' }, key = api.org.key) =>
    api.refusal('decideApproval', { params: { requestID }, body, key })

  describe('200', () => {
    it.each([
      ['approve', 'approved'],
      ['approved', 'approved'],
      ['reject', 'rejected'],
      ['rejected', 'rejected'],
      ['deny', 'rejected'],
      ['denied', 'rejected'],
    ])('%s: the request is %s', async (decision, status) => {
      await setRule(api)
      const id = await open(api)

      expect((await decide(api, id, { decision })).status).toBe(status)
    })

    it('counts distinct people, and tells of each vote', async () => {
      await setRule(api, { required_approvals: 2 })
      const id = await open(api)

      const half = await decide(api, id, { decision: 'approve', approver: 'alice' })
      expect(half).toMatchObject({ status: 'pending', decided_at: null, usable_until: null })
      expect(
        (await decide(api, id, { decision: 'approve', approver: 'Alice' })).votes,
      ).toHaveLength(1)
      expect((await ask(api)).decision).toBe('needs_approval')
      const whole = await decide(api, id, { decision: 'approve', approver: 'bob' })

      expect(whole).toMatchObject({
        status: 'approved',
        votes: [
          { approver: { type: 'person', id: 'alice', named: false } },
          { approver: { type: 'person', id: 'bob', named: false } },
        ],
      })
      expect(await kinds(api)).toEqual(['approval.requested', 'approval.voted', 'approval.decided'])
    })

    it('records the person that the key names', async () => {
      await setRule(api)
      const id = await open(api)
      const key = await personKey(api, 'approver', 'alice@example.com')

      const { votes, ledger } = await decide(api, id, { decision: 'approve' }, key)

      const voter = { type: 'person', id: 'alice@example.com', named: true }
      expect(votes).toMatchObject([{ approver: voter, role: 'approver' }])
      const entry = await api.ok('getEntry', { params: { seq: ledger?.seq ?? -1 } })
      expect(entry).toMatchObject({
        kind: 'approval.decided',
        agent_id: 'payer',
        action: 'payments.transfer',
        data: { person: 'alice@example.com', vote: { approver: voter }, approval: { id } },
      })
    })

    it('changes nothing when the same vote comes again, also when the request is closed', async () => {
      await setRule(api)
      const id = await open(api)
      const once = await decide(api, id, { decision: 'approve', comment: 'yes' })

      const { ledger: _, ...same } = once
      expect(await decide(api, id, { decision: 'approve' })).toEqual(same)
      expect((await ask(api)).decision).toBe('allow')
      expect((await decide(api, id, { decision: 'approve' })).status).toBe('consumed')
      expect(await kinds(api)).toHaveLength(3)
    })

    it('repeats the answer for an Idempotency-Key', async () => {
      await setRule(api)
      const params = { requestID: await open(api) }
      const call = () =>
        api.ok('decideApproval', {
          params,
          body: { decision: 'approve' },
          headers: { 'idempotency-key': 'once' },
        })

      expect(await call()).toEqual(await call())
    })

    it('needs every rule: one vote counts for all that its voter may decide', async () => {
      await setRule(api, { approvers: { users: ['alice', 'bob'] } }, 'both')
      await setRule(api, { approvers: { users: ['bob'] }, description: 'Bob only' }, 'strict')
      const id = await open(api)

      expect((await decide(api, id, { decision: 'approve', approver: 'alice' })).status).toBe(
        'pending',
      )
      expect((await decide(api, id, { decision: 'approve', approver: 'bob' })).status).toBe(
        'approved',
      )
    })
  })

  describe('400', () => {
    it.each([
      ['no decision', {}, 'decision'],
      ['another decision', { decision: 'maybe' }, 'decision'],
      ['a misspelt field', { decision: 'approve', aprover: 'alice' }, 'aprover'],
      ['an empty comment', { decision: 'approve', comment: '' }, 'comment'],
      [
        'an approver with a character that cannot be seen',
        { decision: 'approve', approver: 'ali\u200bce' },
        'approver',
      ],
      ['a key as a person', { decision: 'approve', approver: 'key_abc' }, 'approver'],
    ])('%s', async (_, body, path) => {
      await setRule(api)

      const problem = await refusal(await open(api), body)

      expect(problem.errors?.map((error) => error.path)).toContain(path)
    })

    it('no reason where a rule asks for one', async () => {
      await setRule(api, { reason_required: true })
      const id = await open(api)

      const problem = await refusal(id)

      expect(problem.errors?.map((error) => error.path)).toEqual(['comment'])
      expect((await decide(api, id, { decision: 'approve', comment: 'ok' })).status).toBe(
        'approved',
      )
    })

    it.each([' ', '\t', '\u00A0', '\u200B', '\u3164'])(
      'a reason of %j where a rule asks for one: it must have a visible character',
      async (comment) => {
        await setRule(api, { reason_required: true })
        const id = await open(api)

        const problem = await refusal(id, { decision: 'approve', comment })

        expect(problem.errors?.map((error) => error.path)).toEqual(['comment'])
      },
    )

    it('another approver than the person that the key names', async () => {
      await setRule(api)
      const id = await open(api)
      const key = await personKey(api, 'approver', 'alice')

      const problem = await refusal(id, { decision: 'approve', approver: 'bob' }, key)
      expect(problem.errors?.map((error) => error.path)).toEqual(['approver'])

      const { votes } = await decide(api, id, { decision: 'approve', approver: 'ALICE' }, key)
      expect(votes[0]?.approver).toEqual({ type: 'person', id: 'alice', named: true })
    })
  })

  describe('403', () => {
    it('for keys that may not decide', async () => {
      await setRule(api)
      const id = await open(api)
      for (const role of ['ingest', 'read'] as const) {
        const key = await api.remit.key(api.org.id, role)
        expect((await refusal(id, undefined, key)).code).toBe('role_required')
      }
    })

    it('for a person that the rule does not name', async () => {
      await setRule(api, { approvers: { users: ['alice'], roles: [] } })
      const id = await open(api)

      expect((await refusal(id)).code).toBe('approver_not_eligible')
      expect((await refusal(id, { decision: 'reject', approver: 'eve' })).code).toBe(
        'approver_not_eligible',
      )
      expect((await read(api, id)).votes).toEqual([])
    })

    it('for the agent itself, always', async () => {
      await setRule(api, { prevent_self_approval: false })
      const id = await open(api)

      expect((await refusal(id, { decision: 'approve', approver: 'payer' })).code).toBe(
        'approver_not_eligible',
      )
    })

    it('for the person of the requesting key, unless the rule allows it', async () => {
      await setRule(api)
      const key = await personKey(api, 'admin', 'alice')
      const asking = apiWith(api, key)
      const id = await open(asking)

      expect((await refusal(id, { decision: 'approve' }, key)).code).toBe('approver_not_eligible')
      expect((await refusal(id, { decision: 'approve', approver: 'Alice' })).code).toBe(
        'approver_not_eligible',
      )
      await setRule(api, { prevent_self_approval: false })
      const other = await open(asking, { ...TRANSFER, context: { amount: 2 } })
      expect((await decide(api, other, { decision: 'approve' }, key)).status).toBe('approved')
    })

    it('for the requesting key, with four_eyes', async () => {
      await setRule(api)
      await setSettings(api.remit.writer, api.org.id, { four_eyes: true })
      const id = await open(api)

      const problem = await refusal(id, { decision: 'approve', approver: 'bob' })
      expect(problem.code).toBe('approver_not_eligible')
      const key = await api.remit.key(api.org.id, 'admin')
      expect((await decide(api, id, { decision: 'approve' }, key)).status).toBe('approved')
    })

    it('for every key that may authorize, with require_separate_keys', async () => {
      await setRule(api)
      await setSettings(api.remit.writer, api.org.id, { require_separate_keys: true })
      const id = await open(api)

      expect((await refusal(id)).code).toBe('role_required')
      const key = await api.remit.key(api.org.id, 'approver')
      expect((await decide(api, id, { decision: 'approve' }, key)).status).toBe('approved')
    })
  })

  it('404 for an unknown request and for that of another organization', async () => {
    await setRule(api)
    const id = await open(api)
    const other = api.as(await api.remit.organization())

    expect((await refusal('apr_none')).code).toBe('approval_not_found')
    const body = { decision: 'approve' }
    const problem = await other.refusal('decideApproval', { params: { requestID: id }, body })
    expect(problem.code).toBe('approval_not_found')
    expect((await read(api, id)).status).toBe('pending')
  })

  describe('409', () => {
    it('for the other vote of the same voter', async () => {
      await setRule(api, { required_approvals: 2 })
      const id = await open(api)
      await decide(api, id, { decision: 'approve', approver: 'alice' })

      const problem = await refusal(id, { decision: 'reject', approver: 'alice' })

      expect(problem.code).toBe('already_voted')
    })

    it('for a vote on a request that is closed', async () => {
      await setRule(api)
      const id = await open(api)
      await decide(api, id, { decision: 'reject', approver: 'alice' })

      expect((await refusal(id, { decision: 'approve', approver: 'bob' })).code).toBe(
        'approval_closed',
      )
      expect((await refusal(id, { decision: 'approve', approver: 'alice' })).code).toBe(
        'approval_closed',
      )
    })

    it('for a request whose time is up', async () => {
      await setRule(api, { request_ttl_seconds: 60 })
      const id = await open(api)
      clock.advance(60_000)

      const problem = await refusal(id)

      expect(problem).toMatchObject({ code: 'approval_closed', detail: 'The request is expired' })
    })
  })
})

/** The same product called with another key. */
const apiWith = (api: Api, key: string): Api => api.as({ ...api.org, key })
