import { someDialects } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApi } from './support/api.ts'
import type { Api } from './support/api.ts'
import { isConsistent, rootOf } from './support/tlog.ts'

describe.each(someDialects())('GET /v1/ledger/consistency on %s', (dialect) => {
  let api: Api
  let hashes: string[]
  beforeAll(async () => {
    api = await createApi({ dialect })
    await Promise.all(
      Array.from({ length: 267 }, () => api.ok('appendEntry', { body: { action: 'x.y' } })),
    )
    const { data } = await api.ok('listEntries', { query: { order: 'asc', limit: 1000 } })
    hashes = data.map((entry) => entry.hash)
  })
  afterAll(() => api.remit.close())

  describe('200', () => {
    it('needs no proof from the empty tree, which every tree extends', async () => {
      expect(await api.ok('getConsistency', { query: { from: 0, to: 5 } })).toEqual({
        from: 0,
        to: 5,
        from_root: rootOf([]),
        to_root: rootOf(hashes.slice(0, 5)),
        proof: [],
      })
    })

    it.each([
      [1, 2],
      [3, 7],
      [4, 8],
      [7, 7],
      [100, 270],
      [255, 256],
      [256, 257],
      [256, 270],
      [257, 270],
      [269, 270],
    ])('shows that the tree of %i entries only grew to %i', async (from, to) => {
      const answer = await api.ok('getConsistency', { query: { from, to } })

      expect(answer.from_root).toBe(rootOf(hashes.slice(0, from)))
      expect(answer.to_root).toBe(rootOf(hashes.slice(0, to)))
      const proof = answer.proof.map((hash) => Buffer.from(hash, 'base64').toString('hex'))
      expect(isConsistent(from, to, answer.from_root, answer.to_root, proof)).toBe(true)
      if (from === to) return
      const other = rootOf([...hashes.slice(0, from - 1), hashes[from] ?? ''])
      expect(isConsistent(from, to, other, answer.to_root, proof)).toBe(false)
    })
  })

  it.each([
    [{ from: 5, to: 3 }, 'from'],
    [{ from: 1 }, 'to'],
    [{ to: 1 }, 'from'],
    [{ from: 'a', to: 1 }, 'from'],
  ])('400 for %j', async (query, path) => {
    const problem = await api.refusal('getConsistency', { query })

    expect(problem.errors?.map((error) => error.path)).toEqual([path])
  })

  it('422 for a tree that is still to come', async () => {
    const problem = await api.refusal('getConsistency', { query: { from: 1, to: 271 } })

    expect(problem.code).toBe('size_not_signed')
  })
})
