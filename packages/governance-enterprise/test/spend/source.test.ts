import type { ServerResponse } from 'node:http'
import { AnswerTooLarge } from '@remit/core/net'
import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { httpSpendSource } from '../../src/budgets/measure.ts'
import { createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'
import { json, startSpendService } from '../support/spend-service.ts'
import type { SpendService } from '../support/spend-service.ts'

describe.each(someDialects())('spend from another service on %s', (dialect) => {
  let service: SpendService
  let all: Api
  let api: Api
  beforeAll(async () => {
    service = await startSpendService()
    const settings = { spendUrl: service.url, spendDeadlineMs: 1_500 }
    all = await createApi({ dialect, clock: createClock(), settings })
  })
  beforeEach(async () => {
    api = all.as(await all.remit.organization())
    service.answer = json({ usd: 0 })
    await api.ok('setSpendLimit', {
      params: { id: 'payer' },
      body: { daily_usd: 10, monthly_usd: 100 },
    })
    service.asked.length = 0
  })
  afterAll(async () => {
    await all.remit.close()
    await service.stop()
  })

  const ask = (agent_id: string, amount_usd: number) =>
    api.ok('authorize', { body: { agent_id, action: 'a.b', context: { amount_usd } } })

  it('queries the agent and both windows, with the query of the configured address', async () => {
    await ask('payer', 1)

    const asked = service.asked.map((path) =>
      Object.fromEntries(new URL(path, service.url).searchParams),
    )
    const common = { source: 'test', org_id: api.org.id, agent_id: 'payer' }
    expect(asked).toHaveLength(2)
    expect(asked).toEqual(
      expect.arrayContaining([
        { ...common, window: '2026-11-20' },
        { ...common, window: '2026-11' },
      ]),
    )
  })

  it('counts the data of the service, not that of the ledger', async () => {
    await api.ok('appendEntry', { body: { action: 'a.b', agent_id: 'payer', cost_usd: 9 } })
    service.answer = json({ usd: 7.5 })

    const answer = await ask('payer', 3)

    expect(answer).toMatchObject({
      decision: 'deny',
      reason: 'spend_limit_daily',
      spend: { daily: { spent_usd: 7.5 } },
    })
    expect((await ask('payer', 2.5)).decision).toBe('allow')
  })

  it('still holds allowed amounts, so that two decisions cannot both use the rest', async () => {
    service.answer = json({ usd: 4 })

    const answers = await Promise.all([ask('payer', 6), ask('payer', 6)])

    expect(answers.filter(({ decision }) => decision === 'allow')).toHaveLength(1)
    expect(await ask('payer', 0.01)).toMatchObject({
      decision: 'deny',
      spend: { daily: { spent_usd: 10 } },
    })
  })

  it.each([
    ['an error', json({ error: 'x' }, 500)],
    ['a success that is not 200', json({ usd: 0 }, 201)],
    ['text', (r: ServerResponse) => void r.end('0')],
    ['half an answer', (r: ServerResponse) => void r.end('{"usd": 0')],
    ['no amount', json({ amount: 0 })],
    ['null', json({ usd: null })],
    ['text for a number', json({ usd: '0' })],
    ['a negative number', json({ usd: -0.01 })],
    ['a number beyond the range', (r: ServerResponse) => void r.end('{"usd": 1e400}')],
    ['a list', json([{ usd: 0 }])],
    [
      'far too much',
      (r: ServerResponse) => void r.end(`{"usd": 0, "pad": "${'x'.repeat(70_000)}"}`),
    ],
    ['a broken connection', (r: ServerResponse) => void r.destroy()],
    ['nothing in time', () => undefined],
  ])('denies on %s, with its entry, and goes on when the service does', async (_, answer) => {
    service.answer = answer

    const denied = await ask('payer', 1)

    expect(denied).toMatchObject({ decision: 'deny', reason: 'spend_unavailable' })
    expect(denied).not.toHaveProperty('spend')
    const entry = await api.ok('getEntry', { params: { seq: denied.ledger.seq } })
    expect(entry).toMatchObject({
      kind: 'authorization.decided',
      decision: 'deny',
      reason: 'spend_unavailable',
    })
    expect((await ask('unlimited', 1)).decision).toBe('allow')

    service.answer = json({ usd: 0 })
    expect((await ask('payer', 1)).decision).toBe('allow')
  })

  it('denies on a redirect and does not follow it, wherever it leads', async () => {
    service.answer = (response, request) => {
      if (request.url?.startsWith('/other')) json({ usd: 0 })(response, request)
      else response.writeHead(302, { location: '/other' }).end()
    }

    expect(await ask('payer', 1)).toMatchObject({ decision: 'deny', reason: 'spend_unavailable' })
    expect(service.asked.filter((path) => path.startsWith('/other'))).toEqual([])
  })

  it('does not wait for the end of an answer that has none', async () => {
    service.answer = (response) => {
      const timer = setInterval(() => response.write(' '.repeat(16 * 1024)), 1)
      response.once('close', () => clearInterval(timer))
    }
    const query = { orgId: 'org_1', agentId: 'payer', window: '2026-11' }

    const spent = httpSpendSource(service.url).spent(query, AbortSignal.timeout(5_000))

    await expect(spent).rejects.toThrow(AnswerTooLarge)
  })

  it('denies while the service is down and allows when it is back, without a restart', async () => {
    await service.stop()
    expect(await ask('payer', 1)).toMatchObject({ decision: 'deny', reason: 'spend_unavailable' })
    expect((await ask('unlimited', 1)).decision).toBe('allow')

    await service.start()

    expect((await ask('payer', 1)).decision).toBe('allow')
  })

  it('denies only the agent whose spend is missing', async () => {
    await api.ok('setSpendLimit', { params: { id: 'other' }, body: { daily_usd: 10 } })
    service.answer = (response, request) =>
      json({ usd: 0 }, request.url?.includes('agent_id=payer') ? 500 : 200)(response, request)

    const [payer, other] = await Promise.all([ask('payer', 1), ask('other', 1)])

    expect(payer).toMatchObject({ decision: 'deny', reason: 'spend_unavailable' })
    expect(other.decision).toBe('allow')
  })

  it('is not asked for an agent without a limit', async () => {
    await ask('unlimited', 1)

    expect(service.asked).toEqual([])
  })

  it('is queried by the next request after a new limit', async () => {
    service.answer = json({ usd: 100 })
    await ask('new', 1)

    await api.ok('setSpendLimit', { params: { id: 'new' }, body: { daily_usd: 50 } })

    expect(await ask('new', 1)).toMatchObject({
      decision: 'deny',
      spend: { daily: { spent_usd: 101 } },
    })
  })
})
