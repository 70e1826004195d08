import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { decide, read, setRule, TRANSFER } from '../support/approvals.ts'

describe.each(someDialects())(
  'an approval for an agent that acts for a person, on %s',
  (dialect) => {
    let first: Api
    let api: Api
    beforeAll(async () => {
      first = await createApi({ dialect, clock: createClock() })
    })
    afterAll(() => first.remit.close())
    beforeEach(async () => {
      api = first.as(await first.remit.organization())
      await setRule(api)
    })

    const ask = (more: { subject?: { type: string; id: string } }) =>
      api.ok('authorize', { body: { ...TRANSFER, ...more } })
    const acting = (id: string) => ({ subject: { type: 'user', id } })

    it('is for this person only', async () => {
      const asked = await ask(acting('alice'))
      const id = asked.approval?.id ?? ''
      expect(await read(api, id)).toMatchObject({ acting_for: 'alice' })
      expect((await read(api, id)).shown).toContain('"acting_for":{"id":"alice","type":"user"}')
      await decide(api, id, { decision: 'approve', approver: 'carol' })

      expect((await ask(acting('bob'))).decision).toBe('needs_approval')
      expect((await ask({})).decision).toBe('needs_approval')
      const allowed = await ask(acting('alice'))
      expect(allowed.decision).toBe('allow')
      const entry = await api.ok('getEntry', { params: { seq: allowed.ledger.seq } })
      expect(entry.data).toMatchObject(acting('alice'))
    })

    it('is not decided by this person', async () => {
      const { approval } = await ask(acting('alice'))
      const params = { requestID: approval?.id ?? '' }

      const body = { decision: 'approve', approver: 'Alice' }
      const problem = await api.refusal('decideApproval', { params, body })

      expect(problem.code).toBe('approver_not_eligible')
    })

    it('is the plain one where the subject is the agent itself', async () => {
      const { approval } = await ask({})

      const same = await ask({ subject: { type: 'agent', id: TRANSFER.agent_id } })

      expect(same.approval?.id).toBe(approval?.id)
    })
  },
)
