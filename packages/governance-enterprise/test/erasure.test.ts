import { verifyDatabase } from '@remit/core/ledger/records'
import { eraseEntries } from '@remit/core/orgs'
import { createClock, prune, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'
import { approved, ask, decide, open, read, setRule, TRANSFER } from './support/approvals.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const SECRET = 'Erika Mustermann'
const REQUEST = {
  agent_id: 'payer',
  action: 'payments.pay',
  context: { amount_usd: 40, customer: SECRET },
}

describe.each(someDialects())('erasure of decisions, on %s', (dialect) => {
  const clock = createClock('2026-11-20T08:00:00.000Z')
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect, clock })
  })
  afterAll(() => api.remit.close())

  const fresh = async (): Promise<Api> => api.as(await api.remit.organization())
  const erase = (of: Api, ...seqs: number[]) =>
    eraseEntries(api.remit, of.org.id, { seqs, reason: 'asked for' })
  const entries = async (of: Api, kind: string) =>
    (await of.ok('listEntries', { query: { kind, order: 'asc', limit: 100 } })).data
  const today = async (of: Api) =>
    (await of.ok('getSpendLimit', { params: { id: 'payer' } })).spent.day
  /** Every row of the organization in tables that hold what was asked. */
  const traces = async (of: Api): Promise<string> => {
    const tables = ['ledger_entry', 'idempotency_key', 'approval_request', 'webhook_delivery']
    const rows = await Promise.all(
      tables.map((table) =>
        api.remit.db
          .selectFrom(table as 'ledger_entry')
          .selectAll()
          .where('org_id', '=', of.org.id)
          .execute(),
      ),
    )
    return JSON.stringify(rows)
  }

  it('leaves the decision settleable, its spend counted, and its caps in force', async () => {
    const my = await fresh()
    await my.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 100 } })
    const { ledger, decision_id } = await my.ok('authorize', { body: REQUEST })
    await my.ok('appendEntry', { body: { action: 'x', agent_id: 'payer', cost_usd: 7 } })
    const [appended] = await entries(my, 'entry.appended')
    await erase(my, ledger.seq, appended!.seq)

    expect(await today(my)).toMatchObject({ usd: 7, held_usd: 40 })
    const settled = await my.ok('appendEntry', {
      body: { action: 'payments.paid', decision_id, cost_usd: 25 },
    })
    const over = await my.ok('authorize', { body: { ...REQUEST, context: { amount_usd: 70 } } })

    expect(settled).toMatchObject({ agent_id: 'payer', data: { decision_id } })
    expect(await today(my)).toMatchObject({ usd: 32, held_usd: 0 })
    expect(over).toMatchObject({ decision: 'deny', reason: 'spend_limit_daily' })
    expect(await verifyDatabase(api.remit.db, my.org.id, { deep: true })).toMatchObject({
      status: 'ok',
      redacted: 2,
    })
  })

  it('removes the stored response, and the repeat is not carried out', async () => {
    const my = await fresh()
    const calls = [
      { name: 'authorize', body: REQUEST },
      { name: 'appendEntry', body: { action: 'mail.sent', metadata: { to: SECRET } } },
    ] as const
    for (const { name, body } of calls) {
      const call = { body, headers: { 'idempotency-key': name } }
      const { ledger } = await my.ok(name, call)
      await erase(my, ledger.seq)
      const { head } = await my.ok('listEntries')

      const refused = await my.refusal(name, call)

      expect(refused.code).toBe('answer_erased')
      expect((await my.ok('listEntries')).head).toEqual(head)
      const other = { ...call, body: { ...body, action: 'another' } }
      expect((await my.refusal(name, other)).code).toBe('idempotency_mismatch')
    }
    expect(await traces(my)).not.toContain(SECRET)
  })

  it('removes users from the counters of past windows, and keeps what the current one counts', async () => {
    const my = await fresh()
    await my.ok('setBudget', {
      params: { id: 'each' },
      body: { unit: 'calls', window: 'hour', limit: 2, per: 'user' },
    })
    const askFor = async (id: string) => {
      const body = { agent_id: 'payer', action: 'x', subject: { type: 'user', id } }
      return await my.ok('authorize', { body })
    }
    const countersOf = async (id: string) =>
      await api.remit.db
        .selectFrom('spend_total' as 'ledger_entry')
        .select('window_id' as 'kind')
        .where('org_id', '=', my.org.id)
        .where('agent_id', 'like', `*budget/%/${id}`)
        .execute()
    const first = await askFor('erika')
    const { ledger } = await my.ok('appendEntry', {
      body: { action: 'x', decision_id: first.decision_id, settle: 'held' },
    })
    await askFor('max')
    clock.advance(60 * 60 * 1000)
    const second = await askFor('erika')
    expect(await countersOf('erika')).toHaveLength(2)

    await erase(my, first.ledger.seq, ledger.seq, second.ledger.seq)

    expect(await countersOf('erika')).toHaveLength(1)
    expect(await countersOf('max')).toHaveLength(1)
    expect((await askFor('erika')).decision).toBe('allow')
    expect((await askFor('erika')).reason).toBe('budget_exceeded')
  })

  it('keeps the answers of other requests', async () => {
    const my = await fresh()
    const call = { body: REQUEST, headers: { 'idempotency-key': 'kept' } }
    const first = await my.ok('authorize', call)
    const { ledger } = await my.ok('authorize', { body: REQUEST })
    await erase(my, ledger.seq)

    expect(await my.ok('authorize', call)).toEqual(first)
  })

  describe('and of its approval', () => {
    const request = { ...TRANSFER, context: { amount: 5000, customer: SECRET } }

    it('is refused while the request is open, pending or approved', async () => {
      const my = await fresh()
      await setRule(my)
      const pending = await open(my, request)
      const [asked] = await entries(my, 'approval.requested')
      const [decided] = await entries(my, 'authorization.decided')

      await expect(erase(my, asked!.seq)).rejects.toThrow(new RegExp(`${pending} is pending`))
      await decide(my, pending)
      await expect(erase(my, decided!.seq)).rejects.toThrow(new RegExp(`${pending} is approved`))

      expect((await read(my, pending)).context).toEqual(request.context)
      expect((await ask(my, request)).decision).toBe('allow')
    })

    it('removes the content of the request, with the comments of approvers, once it is closed', async () => {
      const my = await fresh()
      await setRule(my)
      const id = await open(my, request)
      await decide(my, id, { decision: 'approve', comment: `I know ${SECRET}` })
      const used = await ask(my, request)
      expect(used.decision).toBe('allow')
      const all = await Promise.all(
        [
          'authorization.decided',
          'approval.requested',
          'approval.decided',
          'approval.consumed',
        ].map((kind) => entries(my, kind)),
      )

      await erase(my, ...all.flat().map(({ seq }) => seq))

      expect(await read(my, id)).toMatchObject({
        id,
        status: 'consumed',
        context: {},
        resource: null,
        votes: [{ decision: 'approve', comment: null }],
      })
      expect(await traces(my)).not.toContain(SECRET)
      // Asked again, it is a new case.
      expect((await ask(my, request)).approval?.id).not.toBe(id)
      expect((await verifyDatabase(api.remit.db, my.org.id, { deep: true })).status).toBe('ok')
    })

    it('removes the content of the request by its carried-over entry, too', async () => {
      const my = await fresh()
      await my.ok('changeOrganization', {
        body: { settings: { retention_days: 1 }, acknowledge_short_retention: true },
      })
      await setRule(my)
      const id = await open(my, request)
      clock.advance(60_000)
      await ask(my, { agent_id: 'payer', action: 'mail.send' })
      clock.advance(2 * DAY_MS)
      await prune(my, clock, { keepDays: 1 })
      const carried = (await entries(my, 'state.carried')).filter(({ data }) =>
        JSON.stringify(data).includes(SECRET),
      )

      await erase(my, ...carried.map(({ seq }) => seq))

      expect(carried.map(({ data }) => data)).toMatchObject([
        { entry: { kind: 'approval.requested', payload: { data: { approval: { id } } } } },
      ])
      expect((await read(my, id)).context).toEqual({})
      expect(await traces(my)).not.toContain(SECRET)
      expect((await verifyDatabase(api.remit.db, my.org.id, { deep: true })).status).toBe('ok')
    })

    it('is refused while a rejection stands', async () => {
      const my = await fresh()
      await setRule(my)
      const id = await open(my, request)
      await decide(my, id, { decision: 'reject' })
      const [asked] = await entries(my, 'approval.requested')

      await expect(erase(my, asked!.seq)).rejects.toThrow(
        new RegExp(`${id} is rejected and takes effect`),
      )
      expect(await approved(my, { ...request, agent_id: 'other' })).toBeDefined()
    })
  })
})
