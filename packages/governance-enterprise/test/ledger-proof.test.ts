import { generateKeyPairSync } from 'node:crypto'
import { rotateLedgerKey } from '@remit/core/orgs'
import { createClock, someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'
import { openNote, readProof, rootFromInclusion } from './support/tlog.ts'

describe.each(someDialects())('GET /v1/ledger/{seq}/proof on %s', (dialect) => {
  const clock = createClock()
  let api: Api
  let vkey: string
  let kept: number
  beforeAll(async () => {
    api = await createApi({ dialect, clock })
    const append = () => api.ok('appendEntry', { body: { action: 'x.y' } })
    for (let i = 0; i < 20; i++) await append()
    // The first commit of a minute keeps its checkpoint.
    clock.advance(60_000)
    kept = (await append()).seq + 1
    // Past a full tile of 256 entries.
    await Promise.all(Array.from({ length: 300 }, append))
    vkey = String((await api.ok('getEntry', { params: { seq: 0 } })).data?.['vkey'])
  })
  afterAll(() => api.remit.close())

  const check = async (seq: number, text: string) => {
    const { index, hashes, note } = readProof(text)
    const { size, root } = openNote(note, vkey)
    const { hash } = await api.ok('getEntry', { params: { seq } })
    expect(index).toBe(seq)
    expect(rootFromInclusion(index, size, hash, hashes)).toBe(root)
    return size
  }

  describe('200', () => {
    it.each([0, 1, 5, 22, 255, 256, 300, 323])(
      'shows offline that entry %i is in the newest tree',
      async (seq) => {
        const { head } = await api.ok('listEntries', { query: { limit: 1 } })

        const proof = await api.ok('getProof', { params: { seq } })

        expect(await check(seq, proof)).toBe(head.seq + 1)
      },
    )

    it('shows it for an earlier size whose checkpoint is kept', async () => {
      const proof = await api.ok('getProof', { params: { seq: 7 }, query: { size: kept } })

      expect(await check(7, proof)).toBe(kept)
    })

    it('shows it for a size that an earlier key signed', async () => {
      const own = api.as(await api.remit.organization())
      const { vkey: name } = await api.remit.ledger.head(own.org.id)
      clock.advance(60_000)
      const { seq } = await own.ok('appendEntry', { body: { action: 'x.y' } })
      const { privateKey: newKey } = generateKeyPairSync('ed25519')
      const deps = { db: api.remit.db, clock, oldKey: api.remit.signingKey, newKey }
      await rotateLedgerKey(deps, own.org.id)

      const query = { size: seq + 1 }
      const { note } = readProof(await own.ok('getProof', { params: { seq: 0 }, query }))

      expect(openNote(note, name).size).toBe(seq + 1)
    })

    it('does not lead to the root from another entry', async () => {
      const { hashes, note } = readProof(await api.ok('getProof', { params: { seq: 9 } }))
      const { size, root } = openNote(note, vkey)
      const { hash } = await api.ok('getEntry', { params: { seq: 8 } })

      expect(rootFromInclusion(9, size, hash, hashes)).not.toBe(root)
    })

    it('is JSON with the same proof on request', async () => {
      const proof = await api.ok('getProof', { params: { seq: 3 } })

      const response = await api.call('getProof', {
        params: { seq: 3 },
        headers: { accept: 'application/json' },
      })

      expect(await response.json()).toEqual({ seq: 3, proof })
    })
  })

  it.each([
    ['a size without the entry', { seq: 7 }, { size: 7 }],
    ['a size of 0', { seq: 0 }, { size: 0 }],
    ['a size that is no number', { seq: 0 }, { size: 'x' }],
  ])('400 for %s', async (_, params, query) => {
    const problem = await api.refusal('getProof', { params, query })

    expect(problem.errors?.map((error) => error.path)).toEqual(['size'])
  })

  it('404 for an entry that is not there', async () => {
    expect((await api.refusal('getProof', { params: { seq: 324 } })).code).toBe(
      'ledger_entry_not_found',
    )
  })

  it('422 for a size that nothing was signed for, or that is still to come', async () => {
    for (const size of [12, 10_000]) {
      const problem = await api.refusal('getProof', { params: { seq: 7 }, query: { size } })
      expect(problem.code).toBe('size_not_signed')
    }
  })
})
