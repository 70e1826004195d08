import { generateKeyPairSync, hash } from 'node:crypto'
import { systemClock } from '@remit/core/base'
import { endKey, rotateLedgerKey } from '@remit/core/orgs'
import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'
import { openEvents as openAny } from './support/events.ts'

const openEvents = (api: Api, options: Parameters<typeof openAny>[1] = {}) =>
  openAny(api, { ...options, from: 'streamEntries' })

describe.each(someDialects())('what a console reads of the ledger on %s', (dialect) => {
  let first: Api
  let api: Api
  beforeAll(async () => {
    first = await createApi({ dialect })
  })
  afterAll(() => first.remit.close())
  beforeEach(async () => {
    api = first.as(await first.remit.organization())
  })
  const authorize = (agent_id: string) =>
    api.ok('authorize', { body: { agent_id, action: 'mail.send' } })

  describe('GET /v1/ledger/events', () => {
    it('sends each new entry once and in order, as a list has it', async () => {
      const events = await openEvents(api)
      await authorize('a')
      await api.ok('createPolicy', { body: { effect: 'deny', agents: ['b'] } })
      await authorize('b')
      const told = await events.next(3)
      await events.leave()

      const { data } = await api.ok('listEntries', { query: { order: 'asc', after_seq: 2 } })
      expect(told.map(({ data: entry }) => entry)).toEqual(data)
      expect(told.map(({ event }) => event)).toEqual([
        'authorization.decided',
        'policy.created',
        'authorization.decided',
      ])
    })

    it('filters by kind, agent and decision, and goes on after the last event', async () => {
      await api.ok('createPolicy', { body: { effect: 'deny', agents: ['b'] } })
      for (const agent of ['a', 'b', 'a', 'b']) await authorize(agent)
      const all = { after_seq: 0, kind: 'authorization.decided' }
      const ofB = await openEvents(api, { query: { ...all, agent_id: 'b', fields: 'header' } })
      const [one, two] = await ofB.next(2)
      await ofB.leave()
      expect(one?.data).toMatchObject({ agent_id: 'b', decision: 'deny' })
      expect(one?.data).not.toHaveProperty('data')
      const again = await openEvents(api, {
        query: { decision: 'deny' },
        lastEventId: one?.id ?? 0,
      })
      expect((await again.next(1))[0]?.id).toBe(two?.id)
      await again.leave()

      const { seq } = await api.ok('appendEntry', {
        body: { action: 'mail.send', actor: 'c', decision_id: null },
      })
      const ofC = await openEvents(api, { query: { after_seq: 0, agent_id: 'c' } })
      expect((await ofC.next(1))[0]?.id).toBe(seq)
      await ofC.leave()
    })

    it('reads long ledgers piece by piece', async () => {
      await Promise.all(Array.from({ length: 250 }, (_, i) => authorize(`a${i}`)))
      const events = await openEvents(api, { lastEventId: 2 })
      const seqs = (await events.next(250)).map(({ id }) => id)
      await events.leave()
      expect(seqs).toEqual(Array.from({ length: 250 }, (_, i) => i + 3))
    })

    it('ends with the key of its reader', async () => {
      const key = await api.remit.key(api.org.id, 'read')
      const events = await openEvents(api, { key })
      await endKey(api.remit.writer, api.org.id, `key_${key.slice(4, 20)}`)
      await authorize('a')
      await events.ended()
      expect((await api.call('listKeys', { key })).status).toBe(401)
    })

    it('shows nothing of another organization', async () => {
      const other = first.as(await first.remit.organization())
      const events = await openEvents(api)
      await other.ok('authorize', { body: { agent_id: 'theirs', action: 'x' } })
      await authorize('ours')
      expect((await events.next(1))[0]?.data).toMatchObject({ agent_id: 'ours' })
      await events.leave()
    })

    it.each([{ after_seq: '-1' }, { decision: 'x' }, { more: '1' }, { fields: 'x' }])(
      '%j is refused',
      async (query) => {
        expect((await api.call('streamEntries', { query })).status).toBe(400)
      },
    )
  })

  it('fields=header leaves the payload out, and nothing else', async () => {
    await authorize('a')
    const full = await api.ok('listEntries')
    const short = await api.ok('listEntries', { query: { fields: 'header' } })
    const headers = full.data.map((entry) => ({ ...entry, data: undefined, salt: undefined }))
    expect(short.data).toEqual(headers)
    expect(Object.keys(short.data[0] ?? {})).not.toContain('data')
    expect(full.data[0]?.salt).toEqual(expect.any(String))
  })

  it('GET /v1/ledger/{seq} has the very text that the commitment covers', async () => {
    await authorize('ünï')
    const { head } = await api.ok('listEntries', { query: { limit: 1 } })
    const { payload, salt, commitment } = await api.ok('getEntry', { params: { seq: head.seq } })
    expect(hash('sha256', `ledger-payload/v1\n${salt}\n${payload}`, 'hex')).toBe(commitment)
  })

  it('GET /v1/ledger/keys names each signing key with its part of the ledger', async () => {
    const { id } = api.org
    await authorize('a')
    const before = await api.ok('listLedgerKeys')
    const newKey = generateKeyPairSync('ed25519').privateKey
    const { db, signingKey: oldKey } = api.remit
    await rotateLedgerKey({ db, clock: systemClock, oldKey, newKey }, id)
    const head = await api.remit.ledger.head(id)
    const { data } = await api.ok('listLedgerKeys')

    expect(before.data).toEqual([
      {
        vkey: expect.stringContaining(`/ledger/${id}/`),
        key_id: expect.stringMatching(/^[0-9a-f]{8}$/),
        from_seq: 0,
        to_seq: null,
      },
    ])
    expect(data).toEqual([
      { ...before.data[0], to_seq: head.size - 1 },
      {
        vkey: head.vkey,
        key_id: expect.stringMatching(/^[0-9a-f]{8}$/),
        from_seq: head.size,
        to_seq: null,
      },
    ])
  })
})
