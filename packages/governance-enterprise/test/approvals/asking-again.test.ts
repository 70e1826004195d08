import { setSettings } from '@remit/core/orgs'
import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { ask, decide, open, personKey, read, setRule, TRANSFER } from '../support/approvals.ts'

describe.each(someDialects())('a repeated request by another key, on %s', (dialect) => {
  let first: Api
  let bot: Api
  let mallory: string
  let asMallory: Api
  beforeAll(async () => {
    first = await createApi({ dialect, clock: createClock() })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    bot = first.as(await first.remit.organization())
    mallory = await personKey(bot, 'admin', 'mallory@example.org')
    asMallory = bot.as({ ...bot.org, key: mallory })
    await setRule(bot)
  })

  const vote = (id: string, key: string, decision = 'approve') =>
    bot.call('decideApproval', { params: { requestID: id }, body: { decision }, key })
  const refusal = async (id: string, key: string) => {
    const response = await vote(id, key)
    return ((await response.json()) as { code?: string }).code
  }

  it('waits for the same request, and may not decide about it', async () => {
    const id = await open(bot)
    expect((await ask(asMallory)).request_id).toBe(id)
    expect((await ask(asMallory)).request_id).toBe(id)

    expect(await refusal(id, mallory)).toBe('approver_not_eligible')

    const other = await personKey(bot, 'approver', 'Mallory@example.org')
    expect(await refusal(id, other)).toBe('approver_not_eligible')
    expect((await read(bot, id)).votes).toEqual([])
    expect((await vote(id, await personKey(bot, 'approver', 'bob@example.org'))).status).toBe(200)
    expect((await ask(asMallory)).decision).toBe('allow')
  })

  it('removes the requester’s vote: the approval needs another', async () => {
    await setRule(bot, { required_approvals: 2 })
    const id = await open(bot)
    await vote(id, mallory)
    await ask(asMallory)

    await vote(id, await personKey(bot, 'approver', 'bob@example.org'))
    expect((await read(bot, id)).status).toBe('pending')

    await vote(id, await personKey(bot, 'approver', 'carol@example.org'))
    expect((await ask(bot)).decision).toBe('allow')
  })

  it('cannot use an approval with its own vote; the first requester can', async () => {
    const id = await open(bot)
    await vote(id, mallory)

    const own = await ask(asMallory)

    expect(own.decision).toBe('needs_approval')
    expect(own.request_id).not.toBe(id)
    expect(await ask(bot)).toMatchObject({ decision: 'allow', request_id: id })
  })

  it('may do all of it if the rule allows it', async () => {
    await setRule(bot, { prevent_self_approval: false })
    const id = await open(bot)
    await ask(asMallory)

    expect((await vote(id, mallory)).status).toBe(200)
    expect((await ask(asMallory)).decision).toBe('allow')
  })

  it('has no vote by the requesting key, with four_eyes, whatever name it states', async () => {
    await setSettings(bot.remit.writer, bot.org.id, { four_eyes: true })
    const key = await bot.remit.key(bot.org.id, 'admin')
    const asked = bot.as({ ...bot.org, key })
    const id = await open(bot)

    expect((await ask(asked)).request_id).toBe(id)
    expect(await refusal(id, key)).toBe('approver_not_eligible')

    const approved = await open(bot, { ...TRANSFER, context: { amount: 2 } })
    const body = { decision: 'approve', approver: 'alice@example.org' }
    await decide(bot, approved, body, key)
    const used = await ask(asked, { ...TRANSFER, context: { amount: 2 } })
    expect(used.decision).toBe('needs_approval')
    expect(used.request_id).not.toBe(approved)
  })

  it('is known as well when all of them ask in one moment', async () => {
    const keys = await Promise.all(
      ['ann', 'ben', 'cem'].map((name) => personKey(bot, 'admin', `${name}@example.org`)),
    )

    const answers = await Promise.all(
      keys.map((key) => ask(bot.as({ ...bot.org, key }), { ...TRANSFER, action: 'payments.all' })),
    )

    expect(new Set(answers.map(({ request_id: id }) => id)).size).toBe(1)
    for (const key of keys)
      expect(await refusal(answers[0]?.request_id ?? '', key)).toBe('approver_not_eligible')
  })
})
