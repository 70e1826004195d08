import { createHash } from 'node:crypto'
import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { approved, ask, decide, open, read, setRule, TRANSFER } from '../support/approvals.ts'

describe.each(someDialects())('the binding of an approval, on %s', (dialect) => {
  let first: Api
  let api: Api
  beforeAll(async () => {
    first = await createApi({ dialect, clock: createClock() })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    api = first.as(await first.remit.organization())
    await setRule(api, { actions: ['*'] })
  })

  it.each([
    ['another agent', { agent_id: 'payer2' }],
    ['another action', { action: 'payments.transfer2' }],
    ['a resource', { resource: 'account:1' }],
    ['another amount', { context: { amount: 5000.01, vendor: 'acme' } }],
    ['another letter', { context: { amount: 5000, vendor: 'acmE' } }],
    ['one member more', { context: { amount: 5000, vendor: 'acme', note: null } }],
    ['one member less', { context: { amount: 5000 } }],
    ['a letter composed otherwise', { context: { amount: 5000, vendor: 'acme\u0301' } }],
    ['no context', { context: {} }],
  ])('is not for %s', async (_, change) => {
    const id = await approved(api)

    expect((await ask(api, { ...TRANSFER, ...change })).decision).toBe('needs_approval')
    expect((await read(api, id)).status).toBe('approved')
    expect((await ask(api)).decision).toBe('allow')
  })

  it('is the same request in another order, and with the approval named', async () => {
    const id = await approved(api)
    const context = { vendor: 'acme', approval: { id }, amount: 5e3 }

    const answer = await ask(api, { ...TRANSFER, context })

    expect(answer).toMatchObject({ decision: 'allow', approval: { id } })
  })

  it('is not found by its id alone', async () => {
    const id = await approved(api)
    const context = { amount: 1_000_000, vendor: 'acme', approval: { id } }

    expect((await ask(api, { ...TRANSFER, context })).decision).toBe('needs_approval')
  })

  it('is shown exactly as hashed, with invisible characters escaped', async () => {
    const context = { amount: 5, memo: 'pay \u202ecba\u202c now\u200b', quote: '"\n\\u{202e}' }
    const { shown, binding_hash: hash } = await read(api, await open(api, { ...TRANSFER, context }))

    expect(shown).toContain('"memo":"pay \\u{202e}cba\\u{202c} now\\u{200b}"')
    expect(shown).toContain('"quote":"\\"\\n\\\\u{202e}"')
    const restored = shown.replace(
      /(?<!\\)((?:\\\\)*)\\u\{([0-9a-f]+)\}/g,
      (_, before: string, hex: string) => before + String.fromCodePoint(parseInt(hex, 16)),
    )
    expect(createHash('sha256').update(restored).digest('base64url')).toBe(hash)
    expect(JSON.parse(restored)).toEqual({
      subject: { type: 'agent', id: 'payer' },
      action: { name: 'payments.transfer' },
      context,
    })
  })

  describe('narrowed by binding_context', () => {
    it('is for any value of the other members', async () => {
      await setRule(api, {
        condition: 'has(context.amount) && context.amount > 1000.0',
        binding_context: ['amount'],
      })
      const id = await approved(api)
      expect(await read(api, id)).toMatchObject({
        binding_context: ['amount'],
        context: TRANSFER.context,
      })
      expect((await read(api, id)).shown).not.toContain('acme')

      const other = { ...TRANSFER, context: { amount: 5000, vendor: 'other', note: 'x' } }
      expect((await ask(api, other)).decision).toBe('allow')
      expect((await ask(api, { ...TRANSFER, context: { amount: 5001 } })).decision).toBe(
        'needs_approval',
      )
    })

    it('is for the members of all rules, and for all where a rule has no list', async () => {
      await setRule(api, { binding_context: ['amount'] })
      await setRule(api, { binding_context: ['vendor'] }, 'vendors')
      const both = await read(api, await open(api))
      expect(both.binding_context).toEqual(['amount', 'vendor'])
      await setRule(api, {}, 'everything')

      expect((await read(api, await open(api))).binding_context).toBeNull()
    })

    it('does not make an approval of one thing fit more by being narrowed later', async () => {
      const bare = { ...TRANSFER, context: { amount: 5000 } }
      await approved(api, bare)
      await setRule(api, { actions: ['*'], binding_context: ['amount'] })

      expect((await ask(api)).decision).toBe('needs_approval')
    })
  })

  it('leaves the approval alone when the spend limit denies', async () => {
    const request = { ...TRANSFER, context: { amount_usd: 50 } }
    const id = await approved(api, request)
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 10 } })
    expect((await ask(api, request)).reason).toBe('spend_limit_daily')
    expect((await read(api, id)).status).toBe('approved')
    await api.ok('removeSpendLimit', { params: { id: 'payer' } })

    expect((await ask(api, request)).decision).toBe('allow')
  })

  it('opens no request for a denied action', async () => {
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 0 } })

    expect((await ask(api)).decision).toBe('deny')
    expect((await api.ok('listApprovals')).data).toEqual([])
  })

  it('holds nothing while it is pending, and the amount once it is used', async () => {
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 100 } })
    const request = { ...TRANSFER, context: { amount_usd: 50 } }
    const held = async () =>
      (await api.ok('getSpendLimit', { params: { id: 'payer' } })).spent.day.held_usd
    const id = await open(api, request)
    expect(await held()).toBe(0)
    await decide(api, id)
    await ask(api, request)

    expect(await held()).toBe(50)
  })
})
