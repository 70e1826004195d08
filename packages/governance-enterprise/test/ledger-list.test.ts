import { cpuMsOf, createClock, fullDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'

const START = '2026-11-20T08:00:00.000Z'
const at = (seconds: number): string => new Date(Date.parse(START) + seconds * 1000).toISOString()

describe.each(fullDialects())('GET /v1/ledger on %s', (dialect) => {
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock(START)
    api = await createApi({ dialect, clock })
    // 0 genesis, 1 organization, 2 key, 3 limit, then one a second: 4 to 9.
    await api.ok('setSpendLimit', { params: { id: 'payer' }, body: { daily_usd: 10 } })
    const append = (body: object) => {
      clock.advance(1000)
      return api.ok('appendEntry', { body })
    }
    await append({ action: 'mail.send', agent_id: 'mailer' })
    await append({ action: 'mail.Send', agent_id: 'mailer', actor: { type: 'user', id: 'ada' } })
    await append({ action: 'mail_send', actor: 'ada' })
    await append({ action: 'crm.[read]?', agent_id: 'payer' })
    clock.advance(1000)
    const pay = (amount_usd: number) =>
      api.ok('authorize', {
        body: { agent_id: 'payer', action: 'payments.pay', context: { amount_usd } },
      })
    await pay(4)
    clock.advance(1000)
    await pay(7)
  })
  afterAll(() => api.remit.close())

  const list = async (query: Record<string, string | number>) =>
    (await api.ok('listEntries', { query: { order: 'asc', ...query } })).data.map(
      (entry) => entry.seq,
    )

  describe('200', () => {
    it('lists every entry, newest first, with the head', async () => {
      const { data, next_cursor, head } = await api.ok('listEntries')

      expect(data.map((entry) => entry.seq)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
      expect(next_cursor).toBeNull()
      expect(head).toEqual({ seq: 9, hash: data[0]?.hash })
    })

    it.each([
      [{ agent_id: 'mailer' }, [4, 5]],
      [{ agent_id: 'Mailer' }, []],
      [{ actor: 'ada' }, [5, 6]],
      [{ actor: 'mailer' }, [4]],
      [{ action: 'mail.send' }, [4]],
      [{ kind: 'spend_limit.set' }, [3]],
      [{ kind: 'authorization.decided' }, [8, 9]],
      [{ decision: 'allow' }, [8]],
      [{ decision: 'deny' }, [9]],
      [{ decision: 'needs_approval' }, []],
      [{ after_seq: 7 }, [8, 9]],
      [{ before_seq: 2 }, [0, 1]],
      [{ before_seq: 0 }, []],
      [{ after_seq: 3, before_seq: 6 }, [4, 5]],
      [{ after_seq: 9 }, []],
      [{ after_seq: Number.MAX_SAFE_INTEGER }, []],
      [{ agent_id: 'payer', kind: 'entry.appended' }, [7]],
      [{ agent_id: 'payer', decision: 'deny', after_seq: 4, from: at(6) }, [9]],
    ])('filters by %j', async (query, seqs) => {
      expect(await list(query)).toEqual(seqs)
    })

    it.each([
      ['mail*', [4, 5, 6]],
      ['*send', [4, 6]],
      ['*', [4, 5, 6, 7, 8, 9]],
      ['*.*', [4, 5, 7, 8, 9]],
      ['m*l.*d', [4, 5]],
      ['mail.send*', [4]],
      ['mail?send', []],
      ['mail.%', []],
      ['mail_*', [6]],
      ['crm.[r*', [7]],
      ['*]?', [7]],
      ['crm.\\*', []],
      ['MAIL*', []],
      ['***a***', [4, 5, 6, 7, 8, 9]],
    ])('takes %s as a pattern in which only * is special', async (action, seqs) => {
      expect(await list({ action })).toEqual(seqs)
    })

    it.each([
      [{ from: at(2) }, [5, 6, 7, 8, 9]],
      [{ to: at(2) }, [0, 1, 2, 3, 4]],
      [{ from: at(1), to: at(3) }, [4, 5]],
      [{ from: at(1), to: at(1) }, []],
      [{ from: at(3), to: at(1) }, []],
      [{ from: at(7) }, []],
      [{ to: START }, []],
      [{ from: START, to: at(1) }, [0, 1, 2, 3]],
    ])('takes times as half open: %j', async (query, seqs) => {
      expect(await list(query)).toEqual(seqs)
    })

    it.each(['asc', 'desc'] as const)(
      'pages through everything once in order %s',
      async (order) => {
        const seen: number[] = []
        let cursor: string | null = null
        do {
          const query: Record<string, string | number> = {
            order,
            limit: 3,
            ...(cursor && { cursor }),
          }
          const page = await api.ok('listEntries', { query })
          expect(page.data.length).toBeLessThanOrEqual(3)
          seen.push(...page.data.map((entry) => entry.seq))
          cursor = page.next_cursor
        } while (cursor !== null)

        const all = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
        expect(seen).toEqual(order === 'asc' ? all : all.toReversed())
      },
    )

    it('pages through a filter', async () => {
      const query = { action: 'mail*', order: 'asc', limit: 2 }

      const first = await api.ok('listEntries', { query })
      const second = await api.ok('listEntries', {
        query: { ...query, cursor: first.next_cursor ?? '' },
      })

      expect(first.data.map((entry) => entry.seq)).toEqual([4, 5])
      expect(second.data.map((entry) => entry.seq)).toEqual([6])
      expect(second.next_cursor).toBeNull()
    })

    it('has no next page when the last one is exactly full', async () => {
      expect((await api.ok('listEntries', { query: { limit: 10 } })).next_cursor).toBeNull()
      expect((await api.ok('listEntries', { query: { limit: 9 } })).next_cursor).not.toBeNull()
    })

    it('never shows the entries of another organization', async () => {
      const other = api.as(await api.remit.organization())

      expect((await other.ok('listEntries')).data).toHaveLength(3)
      expect((await other.ok('listEntries', { query: { agent_id: 'payer' } })).data).toEqual([])
    })

    it('answers a pattern of many stars without delay', async () => {
      await api.ok('appendEntry', { body: { action: 'a'.repeat(256) } })
      const query = { action: `${'*a'.repeat(120)}*b` }
      const took = await cpuMsOf(async () =>
        expect((await api.ok('listEntries', { query })).data).toEqual([]),
      )

      expect(took).toBeLessThan(2_000)
    })
  })

  describe('400', () => {
    it.each([
      [{ limit: 0 }, 'limit'],
      [{ limit: 1001 }, 'limit'],
      [{ limit: '1e2' }, 'limit'],
      [{ order: 'up' }, 'order'],
      [{ decision: 'maybe' }, 'decision'],
      [{ from: '2026-11-20' }, 'from'],
      [{ to: '2026-11-20T08:00:00+01:00' }, 'to'],
      [{ from: '2026-02-30T08:00:00Z' }, 'from'],
      [{ after_seq: -1 }, 'after_seq'],
      [{ before_seq: '9007199254740993' }, 'before_seq'],
      [{ agent_id: 'a*' }, 'agent_id'],
      [{ action: '' }, 'action'],
      [{ cursor: 'x' }, 'cursor'],
      [{ cursor: '' }, 'cursor'],
      [{ agentid: 'a' }, 'agentid'],
    ])('names the fault of %j', async (query, path) => {
      const problem = await api.refusal('listEntries', { query })

      expect(problem.code).toBe('invalid_request')
      expect(problem.errors?.map((error) => error.path)).toEqual([path])
    })

    it('refuses a parameter that is given twice', async () => {
      const response = await api.remit.call('GET', '/v1/ledger?limit=1&limit=2', {
        key: api.org.key,
      })

      expect(response.status).toBe(400)
      expect(await response.json()).toMatchObject({
        errors: [{ path: 'limit', message: 'is given more than once' }],
      })
    })

    it.each(['%ff', '%ED%A0%80', '%zz', '%'])(
      'refuses the escape %s in a filter',
      async (value) => {
        const { key } = api.org
        for (const name of ['agent_id', 'trace_id', 'action']) {
          const response = await api.remit.call('GET', `/v1/ledger?limit=5&${name}=a${value}`, {
            key,
          })
          expect(response.status).toBe(400)
          expect(await response.json()).toMatchObject({
            errors: [{ path: name, message: 'must be UTF-8 in percent-encoding' }],
          })
        }
      },
    )
  })

  it('401 without a key', async () => {
    expect((await api.refusal('listEntries', { key: '' })).code).toBe('unauthorized')
  })

  it('403 on the free plan', async () => {
    const free = api.as(await api.remit.organization('free'))

    expect(await free.refusal('listEntries')).toMatchObject({
      code: 'plan_required',
      required_plan: 'team',
    })
  })
})
