import { setPlan } from '@remit/core/orgs'
import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { approved, ask, decide, open, read, setRule, TRANSFER } from '../support/approvals.ts'

describe.each(someDialects())('rules that change after an approval on %s', (dialect) => {
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

  it.each([
    ['asks for more people', { required_approvals: 2 }],
    ['asks for other people', { approvers: { users: ['alice'] } }],
    ['asks for reasons', { reason_required: true }],
  ])('a rule that %s wants an approval again', async (_, rule) => {
    const id = await approved(api)
    await setRule(api, rule)

    const answer = await ask(api)

    expect(answer.decision).toBe('needs_approval')
    expect(answer.approval?.id).not.toBe(id)
    expect((await read(api, id)).status).toBe('approved')
  })

  it('another rule wants an approval of its own', async () => {
    await approved(api)
    await setRule(api, {}, 'second')

    const answer = await ask(api)

    expect(answer.decision).toBe('needs_approval')
    const { requirements } = await read(api, answer.approval?.id ?? '')
    expect(requirements.map(({ rule_id }) => rule_id)).toEqual(['large', 'second'])
  })

  it('a rule that is gone lets it through and leaves the approval as it is', async () => {
    const id = await approved(api)
    await api.ok('removeApprovalRule', { params: { id: 'large' } })

    const answer = await ask(api)

    expect(answer).toMatchObject({ decision: 'allow', reason: 'default_allow' })
    expect(answer.approval).toBeUndefined()
    expect((await read(api, id)).status).toBe('approved')
  })

  it('a disabled rule requires nothing', async () => {
    await setRule(api, { enabled: false })

    expect((await ask(api)).decision).toBe('allow')
  })

  it('votes go by the rule of the time at which the request was opened', async () => {
    const id = await open(api)
    await setRule(api, { required_approvals: 2 })

    expect((await decide(api, id)).status).toBe('approved')
    expect((await ask(api)).decision).toBe('needs_approval')
  })

  it('a rejection stands although the rule is a new one', async () => {
    await decide(api, await open(api), { decision: 'reject' })
    await setRule(api, { description: 'new' })

    expect((await ask(api)).reason).toBe('approval_rejected')
  })

  it('a condition that is an error asks for an approval', async () => {
    await setRule(api, { condition: 'context.limit > 1.0' })

    expect((await ask(api)).decision).toBe('needs_approval')
    expect((await ask(api, { ...TRANSFER, context: { limit: 1 } })).decision).toBe('allow')
  })

  it('on the team plan they are kept, not evaluated, and named in a warning', async () => {
    await setPlan(api.remit.writer, api.org.id, 'team')
    expect(await ask(api)).toMatchObject({
      decision: 'allow',
      warnings: ['approval_rules_not_in_plan'],
    })
    await setPlan(api.remit.writer, api.org.id, 'enterprise')

    expect((await ask(api)).decision).toBe('needs_approval')
  })

  it('an agent with fifty pending requests gets no other one', async () => {
    const asked = (n: number, agent_id = 'busy') =>
      ask(api, { ...TRANSFER, agent_id, context: { n } })
    const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => asked(n)))
    const reasons = answers.map(({ reason }) => reason)
    expect(reasons.filter((reason) => reason === 'approval_required')).toHaveLength(50)
    expect(reasons.filter((reason) => reason === 'approval_backlog')).toHaveLength(10)
    expect(await asked(99)).toMatchObject({ decision: 'deny', reason: 'approval_backlog' })
    expect((await asked(0)).decision).toBe('needs_approval')
    expect((await asked(99, 'other')).decision).toBe('needs_approval')
    const { approval } = answers.find(({ reason }) => reason === 'approval_required') ?? {}
    await decide(api, approval?.id ?? '')

    expect((await asked(99)).decision).toBe('needs_approval')
  })
})
