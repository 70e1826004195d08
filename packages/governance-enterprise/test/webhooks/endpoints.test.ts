import { createClock, someDialects } from '@remit/testing'
import type { TestClock } from '@remit/testing'
import { WebhookEvent } from '@remit/contract'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answerOf, createApi } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'
const url = 'https://hooks.example.com/remit?token=t0ken'

describe.each(someDialects())('webhooks on %s', (dialect) => {
  let all: Api
  let api: Api
  let clock: TestClock
  beforeAll(async () => {
    clock = createClock(NOW)
    all = await createApi({ dialect, clock })
  })
  beforeEach(async () => {
    clock.set(NOW)
    api = all.as(await all.remit.organization())
  })
  afterAll(() => all.remit.close())

  const create = (body: object = { url }) => api.ok('createWebhook', { body })

  describe('POST /v1/webhooks', () => {
    it('201 with the webhook, a secret of 32 bytes and the receipt of its entry', async () => {
      const response = await api.call('createWebhook', { body: { url } })

      expect(response.status).toBe(201)
      const { id, secret, ledger, ...webhook } = await answerOf('createWebhook', response)
      expect(response.headers.get('location')).toBe(`/v1/webhooks/${id}`)
      expect(id).toMatch(/^whk_[0-9a-z]{26}$/)
      expect(secret).toMatch(/^whsec_/)
      expect(Buffer.from(secret?.slice(6) ?? '', 'base64')).toHaveLength(32)
      expect(webhook).toEqual({
        url,
        format: 'standard',
        events: WebhookEvent.options,
        description: null,
        enabled: true,
        disabled_reason: null,
        created_at: NOW,
        created_by: `key_${api.org.key.slice(4, 20)}`,
        updated_at: NOW,
      })
      const entry = await api.ok('getEntry', { params: { seq: ledger?.seq ?? -1 } })
      expect(entry).toMatchObject({
        kind: 'webhook.created',
        data: { webhook: { ...webhook, id, url: 'https://hooks.example.com/remit' } },
      })
    })

    it('takes its fields, and normalizes the URL', async () => {
      const body = {
        url: 'HTTPS://Hooks.Example.com:443/a/../b',
        events: ['spend.threshold'],
        description: 'to the pager',
        enabled: false,
      }

      expect(await create(body)).toMatchObject({ ...body, url: 'https://hooks.example.com/b' })
    })

    it('shows the secret once: not in a repeat, a list, the ledger or another column', async () => {
      const headers = { 'idempotency-key': 'once' }
      const { id, secret } = await api.ok('createWebhook', { body: { url }, headers })

      const repeat = await api.ok('createWebhook', { body: { url }, headers })

      expect(repeat).toMatchObject({ id, secret: null, secret_available: false })
      const elsewhere = [
        repeat,
        await api.ok('getWebhook', { params: { id } }),
        await api.ok('listWebhooks'),
        await api.ok('listEntries'),
        await sql`select * from idempotency_key`.execute(all.remit.db),
      ]
      expect(JSON.stringify(elsewhere)).not.toContain(secret)
      expect(JSON.stringify(elsewhere)).toContain(id)
    })

    it.each([
      ['no URL', {}, 'url'],
      ['an address inside', { url: 'https://169.254.169.254/' }, 'url'],
      ['an address in disguise', { url: 'https://0x7f.1/' }, 'url'],
      ['loopback', { url: 'https://localhost/' }, 'url'],
      ['a name inside', { url: 'https://metadata.google.internal/' }, 'url'],
      ['plain http', { url: 'http://hooks.example.com/' }, 'url'],
      ['another port', { url: 'https://hooks.example.com:8443/' }, 'url'],
      ['a password', { url: 'https://a:b@hooks.example.com/' }, 'url'],
      ['a fragment', { url: 'https://hooks.example.com/#a' }, 'url'],
      ['a long URL', { url: `https://hooks.example.com/${'a'.repeat(2048)}` }, 'url'],
      ['no event', { url, events: [] }, 'events'],
      ['an unknown event', { url, events: ['entry.appended'] }, 'events.0'],
      ['an event twice', { url, events: ['spend.threshold', 'spend.threshold'] }, 'events'],
      ['a misspelt field', { url, event: [] }, 'event'],
      ['a secret of the caller', { url, secret: 'whsec_AAAA' }, 'secret'],
    ])('400 for %s', async (_, body, path) => {
      const problem = await api.refusal('createWebhook', { body })

      expect(problem.status).toBe(400)
      expect(problem.errors?.map((error) => error.path)).toContain(path)
    })

    it('400 with the reason for a refused URL', async () => {
      const { errors } = await api.refusal('createWebhook', { body: { url: 'https://127.1/' } })

      expect(errors).toEqual([{ path: 'url', message: 'must have a host name, not an IP address' }])
    })

    it('409 beyond 20, also for requests of the same moment', async () => {
      const calls = Array.from({ length: 22 }, () => api.call('createWebhook', { body: { url } }))

      const statuses = (await Promise.all(calls)).map(({ status }) => status)

      expect(statuses.filter((status) => status === 201)).toHaveLength(20)
      expect((await api.refusal('createWebhook', { body: { url } })).code).toBe('too_many_webhooks')
    })
  })

  it('GET /v1/webhooks lists them in order, by pages', async () => {
    const ids: string[] = []
    for (let i = 0; i < 3; i++) {
      ids.push((await create()).id)
      clock.advance(1)
    }

    const first = await api.ok('listWebhooks', { query: { limit: 2 } })
    const rest = await api.ok('listWebhooks', {
      query: { limit: 2, cursor: first.next_cursor ?? '' },
    })

    expect([...first.data, ...rest.data].map(({ id }) => id)).toEqual(ids)
    expect(rest.next_cursor).toBeNull()
  })

  it('GET /v1/webhooks/{id} of a webhook that nothing was sent to', async () => {
    const { secret: _, ledger: __, ...webhook } = await create()

    expect(await api.ok('getWebhook', { params: { id: webhook.id } })).toEqual({
      ...webhook,
      pending: 0,
      last_delivery: null,
    })
  })

  it('DELETE /v1/webhooks/{id} 204, with its entry; then it is unknown', async () => {
    const { id } = await create()

    await api.ok('deleteWebhook', { params: { id } })

    expect((await api.refusal('deleteWebhook', { params: { id } })).code).toBe('webhook_not_found')
    expect((await api.refusal('getWebhook', { params: { id } })).code).toBe('webhook_not_found')
    const { data } = await api.ok('listEntries', { query: { limit: 1 } })
    expect(data).toMatchObject([{ kind: 'webhook.deleted', data: { webhook: { id } } }])
    expect(JSON.stringify(data)).not.toContain('t0ken')
  })

  it('404 for the webhook of another organization, as for none', async () => {
    const { id } = await create()
    const other = all.as(await all.remit.organization())

    for (const name of ['getWebhook', 'deleteWebhook'] as const) {
      expect((await other.refusal(name, { params: { id } })).code).toBe('webhook_not_found')
    }
    expect((await other.ok('listWebhooks')).data).toEqual([])
    expect((await api.ok('listWebhooks')).data).toHaveLength(1)
  })

  it('403 for every role but admin, and below the team plan', async () => {
    const { id } = await create()
    const free = all.as(await all.remit.organization('free'))
    for (const [name, options] of [
      ['listWebhooks', {}],
      ['getWebhook', { params: { id } }],
      ['createWebhook', { body: { url } }],
      ['deleteWebhook', { params: { id } }],
    ] as const) {
      for (const role of ['ingest', 'approver', 'read'] as const) {
        const key = await api.remit.key(api.org.id, role)
        expect((await api.refusal(name, { ...options, key })).code).toBe('role_required')
      }
      expect((await free.refusal(name, options)).code).toBe('plan_required')
    }
  })
})
