import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { approved, ask, decide, kinds, open, read, setRule } from '../support/approvals.ts'

describe.each(someDialects())('closing a request for approval on %s', (dialect) => {
  let first: Api
  let api: Api
  const clock = createClock()
  beforeAll(async () => {
    first = await createApi({ dialect, clock })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    api = first.as(await first.remit.organization())
    await setRule(api, { request_ttl_seconds: 3600, approval_ttl_seconds: 600 })
  })

  const cancel = (id: string, key = api.org.key) =>
    api.call('cancelApproval', { params: { id }, key })
  const revoke = (id: string, key = api.org.key) =>
    api.call('revokeApproval', { params: { id }, key })
  const codeOf = async (response: Response) => ((await response.json()) as { code: string }).code

  describe('POST /v1/approvals/{id}/cancel', () => {
    it('200 for the requester; the next request is a new one', async () => {
      const id = await open(api)
      const key = await api.remit.key(api.org.id, 'ingest')

      const approval = await api.ok('cancelApproval', { params: { id }, key })

      expect(approval).toMatchObject({ status: 'cancelled', closed_at: '2026-11-20T08:00:00.000Z' })
      expect(await open(api)).not.toBe(id)
      expect(await kinds(api)).toContain('approval.cancelled')
    })

    it('403 for approvers and readers', async () => {
      const id = await open(api)
      for (const role of ['approver', 'read'] as const) {
        const key = await api.remit.key(api.org.id, role)
        expect((await cancel(id, key)).status).toBe(403)
      }
    })

    it('404 for an unknown request and for that of another organization', async () => {
      const id = await open(api)
      const other = await api.remit.organization()

      expect(await codeOf(await cancel('apr_none'))).toBe('approval_not_found')
      expect(await codeOf(await cancel(id, other.key))).toBe('approval_not_found')
      expect((await read(api, id)).status).toBe('pending')
    })

    it('409 once it is not pending', async () => {
      const id = await approved(api)

      expect(await codeOf(await cancel(id))).toBe('approval_closed')
      expect((await read(api, id)).status).toBe('approved')
    })

    it('409 for a vote after it', async () => {
      const id = await open(api)
      await cancel(id)

      const body = { decision: 'approve' }
      const problem = await api.refusal('decideApproval', { params: { requestID: id }, body })
      expect(problem).toMatchObject({ code: 'approval_closed', detail: 'The request is cancelled' })
    })
  })

  describe('POST /v1/approvals/{id}/revoke', () => {
    it('200 while it is not used; it is of no use then', async () => {
      const id = await approved(api)
      const key = await api.remit.key(api.org.id, 'approver')

      const approval = await api.ok('revokeApproval', { params: { id }, key })

      expect(approval.status).toBe('revoked')
      const next = await ask(api)
      expect(next.decision).toBe('needs_approval')
      expect(next.approval?.id).not.toBe(id)
    })

    it('403 for the requester', async () => {
      const key = await api.remit.key(api.org.id, 'ingest')

      expect((await revoke(await approved(api), key)).status).toBe(403)
    })

    it('404 for that of another organization', async () => {
      const id = await approved(api)
      const other = await api.remit.organization()

      expect(await codeOf(await revoke(id, other.key))).toBe('approval_not_found')
      expect((await ask(api)).decision).toBe('allow')
    })

    it('409 unless there is an approval that was not used', async () => {
      const id = await open(api)
      expect(await codeOf(await revoke(id))).toBe('approval_not_usable')
      await decide(api, id)
      await ask(api)
      expect(await codeOf(await revoke(id))).toBe('approval_not_usable')
      expect((await read(api, id)).status).toBe('consumed')
    })
  })

  describe('time', () => {
    it('ends a pending request to the millisecond; the next is a new one', async () => {
      const id = await open(api)
      clock.advance(3_599_999)
      expect(await open(api)).toBe(id)
      clock.advance(1)

      expect((await read(api, id)).status).toBe('expired')
      expect(await open(api)).not.toBe(id)
    })

    it('ends an approval to the millisecond', async () => {
      const id = await approved(api)
      clock.advance(600_000)

      expect((await read(api, id)).status).toBe('expired')
      expect((await ask(api)).decision).toBe('needs_approval')
      expect(await codeOf(await revoke(id))).toBe('approval_not_usable')
    })

    it('lets an approval be used in its last millisecond', async () => {
      await approved(api)
      clock.advance(599_999)

      expect((await ask(api)).decision).toBe('allow')
    })

    it('is the shortest of all rules, and a rejection stands for the longest', async () => {
      await setRule(api, { request_ttl_seconds: 60, rejection_cooldown_seconds: 7200 }, 'short')
      const id = await open(api)
      const { expires_at: end, requested_at: begin } = await read(api, id)
      expect(Date.parse(end) - Date.parse(begin)).toBe(60_000)
      await decide(api, id, { decision: 'reject' })

      clock.advance(7_199_999)
      expect((await ask(api)).reason).toBe('approval_rejected')
      clock.advance(1)
      expect((await ask(api)).reason).toBe('approval_required')
    })

    it('without a cooldown, a rejected action opens a new request at once', async () => {
      await setRule(api, { rejection_cooldown_seconds: 0 })
      const id = await open(api)
      await decide(api, id, { decision: 'reject' })

      expect(await open(api)).not.toBe(id)
    })
  })
})
