import type { Caller } from '@remit/core/caller'
import type { ClaimedFacts } from '@remit/core/decision'
import { findHolders } from '@remit/core/keys'
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

    /** As another protocol asks: with a subject beside the agent. */
    const ask = async (claims: ClaimedFacts) => {
      const [holder] = await findHolders(api.remit.db, api.org.id, [
        `key_${api.org.key.slice(4, 20)}`,
      ])
      if (!holder) throw new Error('the key is gone')
      const { orgId, plan, configVersion, id, role, person } = holder
      const principal = { type: 'key', id, role, person } as const
      const caller: Caller = { orgId, plan, principal, configVersion }
      const origin = { caller, claim: null, wantsNote: false }
      return api.remit.decider.authorize(TRANSFER, origin, claims)
    }
    const acting = (id: string): ClaimedFacts => ({ subject: { type: 'user', id } })

    it('is for this person only', async () => {
      const asked = await ask(acting('alice'))
      const id = asked.approval?.id ?? ''
      expect(await read(api, id)).toMatchObject({ acting_for: 'alice' })
      expect((await read(api, id)).shown).toContain('"acting_for":{"id":"alice","type":"user"}')
      await decide(api, id, { decision: 'approve', approver: 'carol' })

      expect((await ask(acting('bob'))).decision).toBe('needs_approval')
      expect((await ask({})).decision).toBe('needs_approval')
      expect((await ask(acting('alice'))).decision).toBe('allow')
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
