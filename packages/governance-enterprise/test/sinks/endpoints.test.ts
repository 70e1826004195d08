import { createClock, someDialects } from '@remit/testing'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { answerOf, createApi, refusalOf } from '../support/api.ts'
import type { Api } from '../support/api.ts'

const NOW = '2026-11-20T08:00:00.000Z'
const CA = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const SECRET = 'hunter2hunter2'

/** A valid target of each type, and how it is shown. */
const TARGETS = {
  otlp: {
    given: { url: 'https://otel.example.com:4318/v1/logs', headers: { 'x-key': SECRET }, ca: CA },
    shown: { url: 'https://otel.example.com:4318/v1/logs', header_names: ['x-key'], ca: CA },
  },
  https: {
    given: { url: 'https://in.example.com/logs', headers: { authorization: SECRET } },
    shown: { url: 'https://in.example.com/logs', header_names: ['authorization'] },
  },
  splunk_hec: {
    given: {
      url: 'https://hec.example.com:8088/services/collector/event',
      token: SECRET,
      index: 'remit',
    },
    shown: { url: 'https://hec.example.com:8088/services/collector/event', index: 'remit' },
  },
  syslog: {
    given: { url: 'syslog+tls://log.example.com:6514' },
    shown: { url: 'syslog+tls://log.example.com:6514' },
  },
  s3: {
    given: {
      endpoint: 'https://s3.eu-central-1.amazonaws.com',
      bucket: 'remit-ledger',
      prefix: 'audit/',
      region: 'eu-central-1',
      access_key_id: 'AKIA1',
      secret_access_key: SECRET,
    },
    shown: {
      endpoint: 'https://s3.eu-central-1.amazonaws.com',
      bucket: 'remit-ledger',
      prefix: 'audit/',
      region: 'eu-central-1',
      access_key_id: 'AKIA1',
    },
  },
}
type Type = keyof typeof TARGETS
const TYPES = Object.keys(TARGETS) as Type[]
const OFF = { enabled: false } as const

describe.each(someDialects())('the endpoints of sinks on %s', (dialect) => {
  let all: Api
  let api: Api
  beforeAll(async () => {
    all = await createApi({ dialect, clock: createClock(NOW) })
  })
  beforeEach(async () => {
    api = all.as(await all.remit.organization())
  })
  afterAll(() => all.remit.close())

  const create = (type: Type, more: object = {}) =>
    api.ok('createSink', { body: { type, target: TARGETS[type].given, ...OFF, ...more } })
  const refused = async (body: object) =>
    (await refusalOf(await api.remit.call('POST', '/v1/sinks', { key: api.org.key, body })))
      .errors as { path: string; message: string }[]

  it.each(TYPES)('create a sink of the type %s and never show its secrets', async (type) => {
    const response = await api.call('createSink', {
      body: { type, target: TARGETS[type].given, ...OFF },
      headers: { 'idempotency-key': 'one' },
    })
    expect(response.status).toBe(201)
    const { id, ledger, ...sink } = await answerOf('createSink', response)
    expect(response.headers.get('location')).toBe(`/v1/sinks/${id}`)
    expect(id).toMatch(/^snk_[0-9a-z]{26}$/)
    const recorded = {
      type,
      target: TARGETS[type].shown,
      format: 'remit',
      kinds: null,
      description: null,
      enabled: false,
      created_at: NOW,
      created_by: `key_${api.org.key.slice(4, 20)}`,
      updated_at: NOW,
    }
    expect(sink).toEqual({
      ...recorded,
      state: 'paused',
      watermark_seq: (ledger?.seq ?? 0) - 1,
      lag_entries: 1,
      last_sent_at: null,
      last_error: null,
    })
    const entry = await api.ok('getEntry', { params: { seq: ledger?.seq ?? -1 } })
    expect(entry).toMatchObject({
      kind: 'sink.created',
      data: { sink: { id, ...recorded }, from_seq: ledger?.seq },
    })
    const everywhere = [
      await api.ok('getSink', { params: { id } }),
      await api.ok('listSinks'),
      await api.ok('listEntries'),
      (await sql`select * from sink`.execute(all.remit.db)).rows,
      (await sql`select * from idempotency_key`.execute(all.remit.db)).rows,
    ]
    expect(JSON.stringify(everywhere)).not.toContain(SECRET)
  })

  it.each([
    ['no type', { target: {} }, 'type'],
    ['an unknown type', { type: 'kafka', target: {} }, 'type'],
    ['an unknown field', { type: 'https', target: TARGETS.https.given, kind: [] }, 'kind'],
    [
      'an unknown field of the target',
      { type: 'syslog', target: { url: '', token: 'x' } },
      'target.token',
    ],
    [
      'a missing field of the target',
      { type: 'splunk_hec', target: { url: 'https://a.example.com/' } },
      'target.token',
    ],
    ['plain http', { type: 'https', target: { url: 'http://in.example.com/' } }, 'target.url'],
    [
      'a private name',
      { type: 'otlp', target: { url: 'https://otel.internal/v1/logs' } },
      'target.url',
    ],
    ['an address', { type: 'otlp', target: { url: 'https://10.0.0.1/v1/logs' } }, 'target.url'],
    ['a query', { type: 'https', target: { url: 'https://in.example.com/?a=1' } }, 'target.url'],
    [
      'a header of its own',
      { type: 'https', target: { url: 'https://in.example.com/', headers: { Host: 'a' } } },
      'target.headers.Host',
    ],
    [
      'a header that splits',
      { type: 'https', target: { url: 'https://in.example.com/', headers: { a: 'b\r\nc: d' } } },
      'target.headers.a',
    ],
    [
      'syslog without TLS',
      { type: 'syslog', target: { url: 'syslog://log.example.com:514' } },
      'target.url',
    ],
    [
      'syslog without a port',
      { type: 'syslog', target: { url: 'syslog+tls://log.example.com' } },
      'target.url',
    ],
    [
      'a store with a path',
      { type: 's3', target: { ...TARGETS.s3.given, endpoint: 'https://s3.example.com/a' } },
      'target.endpoint',
    ],
    [
      'an invalid bucket',
      { type: 's3', target: { ...TARGETS.s3.given, bucket: '../x' } },
      'target.bucket',
    ],
    ['an unknown format', { type: 'https', target: TARGETS.https.given, format: 'cef' }, 'format'],
    ['no kinds', { type: 'https', target: TARGETS.https.given, kinds: [] }, 'kinds'],
    ['a negative start', { type: 'https', target: TARGETS.https.given, from_seq: -1 }, 'from_seq'],
  ])('refuse %s and name the field', async (_, body, path) => {
    expect((await refused(body)).map((error) => error.path)).toContain(path)
    expect((await api.ok('listSinks')).data).toEqual([])
  })

  it('change, rewind and delete a sink, each with its entry', async () => {
    const { id } = await create('https')
    const changed = await api.ok('changeSink', {
      params: { id },
      body: { target: TARGETS.otlp.given, format: 'ecs', kinds: ['policy.*'], from_seq: 0 },
    })
    expect(changed).toMatchObject({
      type: 'https',
      target: TARGETS.otlp.shown,
      format: 'ecs',
      kinds: ['policy.*'],
      watermark_seq: null,
    })
    expect(await api.ok('getEntry', { params: { seq: changed.ledger?.seq ?? -1 } })).toMatchObject({
      kind: 'sink.updated',
      data: { sink: { id, format: 'ecs' }, from_seq: 0 },
    })

    expect((await api.call('deleteSink', { params: { id } })).status).toBe(204)
    const { data } = await api.ok('listEntries', { query: { limit: '1' } })
    expect(data[0]).toMatchObject({ kind: 'sink.deleted', data: { sink: { id } } })
    for (const name of ['getSink', 'deleteSink', 'testSink'] as const)
      expect((await api.call(name, { params: { id } })).status).toBe(404)
    expect((await api.call('changeSink', { params: { id }, body: {} })).status).toBe(404)
  })

  it.each([
    [{ type: 'https', target: {} }, 'url', 'is required: a string'],
    [{ type: 's3', target: { endpoint: 5 } }, 'endpoint', 'must be a string, not a number'],
    [
      { type: 'https', target: { url: `https://${'a'.repeat(2048)}` } },
      'url',
      'must have at most 2048 characters',
    ],
    [
      { type: 'https', target: { url: 'https://in.example.com/', headers: 'x' } },
      'headers',
      'must be an object, not a string',
    ],
    [
      {
        type: 'https',
        target: { url: 'https://in.example.com/', headers: { a: 'x'.repeat(4097) } },
      },
      'headers.a',
      'must have at most 4096 characters',
    ],
    [
      { type: 'splunk_hec', target: { url: 'https://in.example.com/', token: 'a b' } },
      'token',
      'must be printable ASCII without blanks',
    ],
  ])('say what a target may be: %o', async (body, field, message) => {
    expect(await refused(body)).toContainEqual({ path: `target.${field}`, message })
  })

  it('check a changed target against the type of the sink', async () => {
    const { id } = await create('https')
    const change = (body: object) =>
      api.remit.call('PATCH', `/v1/sinks/${id}`, { key: api.org.key, body })
    for (const [target, path] of [
      [TARGETS.s3.given, 'target.url'],
      [{ url: 'https://localhost/' }, 'target.url'],
    ] as const) {
      const { errors } = await refusalOf(await change({ target }))
      expect(errors).toContainEqual(expect.objectContaining({ path }))
    }
    expect((await change({ type: 'otlp' })).status).toBe(400)
  })

  it('have a limit of ten, and belong to one organization', async () => {
    const { id } = await create('https')
    for (let i = 1; i < 10; i++) await create('https')
    const more = await api.call('createSink', {
      body: { type: 'https', target: TARGETS.https.given },
    })
    expect(await refusalOf(more)).toMatchObject({ code: 'too_many_sinks', status: 409 })
    const { data, next_cursor: next } = await api.ok('listSinks', { query: { limit: '4' } })
    const rest = await api.ok('listSinks', { query: { cursor: next ?? '' } })
    expect([data, rest.data].map(({ length }) => length)).toEqual([4, 6])

    const foreign = all.as(await all.remit.organization())
    expect((await foreign.call('getSink', { params: { id } })).status).toBe(404)
  })
})
