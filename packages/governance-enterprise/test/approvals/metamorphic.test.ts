import type { AuthorizeRequest } from '@remit/contract'
import { createClock } from '@remit/testing/pure'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const AGENTS = ['payer', 'reader', '*']
const ACTIONS = ['pay.a', 'pay.b', 'pay.*', '*']
const CONDITIONS = [null, 'context.n > 1.0', 'has(context.n) && context.n > 1.0', 'context.gone']

const rule = fc.record({
  agents: fc.constantFrom(...AGENTS).map((agent) => [agent]),
  actions: fc.constantFrom(...ACTIONS).map((action) => [action]),
  condition: fc.constantFrom(...CONDITIONS),
})
const policy = fc.tuple(rule, fc.constantFrom('allow', 'deny'))

const REQUESTS: AuthorizeRequest[] = ['payer', 'reader'].flatMap((agent_id) =>
  ['pay.a', 'pay.b', 'other'].flatMap((action) =>
    [{}, { n: 1 }, { n: 2 }].map((context) => ({ agent_id, action, context })),
  ),
)

describe('adding an approval rule', () => {
  let first: Api
  beforeAll(async () => {
    first = await createApi({ clock: createClock() })
  })
  afterAll(() => first.remit.close())

  it('never changes a deny, and changes an allow only to needs_approval', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(policy, { maxLength: 4 }), rule, async (policies, added) => {
        const org = await first.remit.organization()
        const api = first.as(org)
        for (const [body, effect] of policies)
          await api.ok('createPolicy', { body: { ...body, effect } })
        const decide = async () =>
          (await first.remit.decider.preview(org.id, 'enterprise', REQUESTS)).map(
            ({ decision, reason }) => `${decision} ${reason}`,
          )
        const before = await decide()
        await api.ok('setApprovalRule', { params: { id: 'added' }, body: added })
        const after = await decide()

        for (const [i, was] of before.entries()) {
          const may = was.startsWith('deny') ? [was] : [was, 'needs_approval approval_required']
          expect(may).toContain(after[i])
        }
      }),
      { numRuns: 60 },
    )
  })

  it('is seen by a preview, which opens nothing', async () => {
    const org = await first.remit.organization()
    const api = first.as(org)
    await api.ok('setApprovalRule', { params: { id: 'all' }, body: {} })

    const [preview] = await first.remit.decider.preview(org.id, 'enterprise', REQUESTS.slice(0, 1))

    expect(preview).toMatchObject({
      decision: 'needs_approval',
      matched: [{ kind: 'approval_rule', id: 'all' }],
    })
    expect((await api.ok('listApprovals')).data).toEqual([])
  })
})
