import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'
import { openNote, rootOf } from './support/tlog.ts'

describe.each(someDialects())('GET /v1/ledger/checkpoint on %s', (dialect) => {
  let api: Api
  beforeAll(async () => {
    api = await createApi({ dialect })
  })
  afterAll(() => api.remit.close())

  const genesis = async () =>
    (await api.ok('getEntry', { params: { seq: 0 } })).data as { origin: string; vkey: string }

  describe('200', () => {
    it('is a note, signed with the key of the genesis, over the root of all entries', async () => {
      await api.ok('appendEntry', { body: { action: 'x.y' } })
      const { origin, vkey } = await genesis()

      const note = await api.ok('getCheckpoint')

      const { data } = await api.ok('listEntries', { query: { order: 'asc' } })
      expect(openNote(note, vkey)).toEqual({
        origin,
        size: data.length,
        root: rootOf(data.map((entry) => entry.hash)),
      })
    })

    it('no longer holds when one character of it changes', async () => {
      const note = await api.ok('getCheckpoint')
      const { vkey } = await genesis()

      expect(() => openNote(note.replace('\n', '0\n'), vkey)).toThrow('does not hold')
      expect(() => openNote(note.replace(/^\d+$/m, '2'), vkey)).toThrow('does not hold')
    })

    it('is JSON with the same note on request', async () => {
      const note = await api.ok('getCheckpoint')

      const response = await api.call('getCheckpoint', { headers: { accept: 'application/json' } })

      expect(response.headers.get('content-type')).toBe('application/json')
      expect(await response.json()).toEqual({
        note,
        origin: (await genesis()).origin,
        vkey: (await genesis()).vkey,
        size: Number(note.split('\n')[1]),
        hash: (await api.ok('listEntries')).head.hash,
      })
    })

    it('differs between organizations with the same number of entries', async () => {
      const [a, b] = [
        api.as(await api.remit.organization()),
        api.as(await api.remit.organization()),
      ]

      const [first, second] = [await a.ok('getCheckpoint'), await b.ok('getCheckpoint')]

      expect(first.split('\n')[1]).toBe(second.split('\n')[1])
      expect(first.split('\n')[0]).not.toBe(second.split('\n')[0])
    })
  })

  it('401 without a key', async () => {
    expect((await api.refusal('getCheckpoint', { key: '' })).code).toBe('unauthorized')
  })

  it('503 without a head, in words that are true of reading', async () => {
    const other = await createApi({ dialect })
    await other.remit.db.deleteFrom('ledger_head').where('org_id', '=', other.org.id).execute()

    expect(await other.refusal('getCheckpoint')).toMatchObject({
      code: 'ledger_unavailable',
      title: 'The ledger is unavailable; nothing was changed',
      detail: expect.stringContaining('has no ledger head'),
    })
    await other.remit.close()
  })
})
