import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { memoryLog } from '../../../test/ledger/memory-tiles.ts'
import type { MemoryLog } from '../../../test/ledger/memory-tiles.ts'
import { describeWithData, readDataJson } from '../../../test/shared-data.ts'
import { MerkleTree, emptyRoot, leafHash, nodeHash } from './merkle.ts'
import {
  verifyConsistency,
  verifyInclusion,
  consistencyProof,
  frontierAt,
  inclusionProof,
  treeRoot,
} from './proof.ts'
import type { ConsistencyClaim, InclusionClaim } from './proof.ts'

type Vector = Record<string, string> & { proof: string[] | null }

const hexOf = (base64: string) => Buffer.from(base64, 'base64').toString('hex')

describeWithData('tlog')('the published proofs', () => {
  test('98 inclusion proofs are judged as published', () => {
    const cases = readDataJson('tlog/inclusion.json') as Vector[]

    const verdicts = cases.map((one) => ({
      case: one['case'],
      wantErr: !verifyInclusion({
        index: Number(one['leafIdx']),
        size: Number(one['treeSize']),
        leafHash: hexOf(one['leafHash']!),
        root: hexOf(one['root']!),
        proof: (one.proof ?? []).map(hexOf),
      }),
    }))

    expect(verdicts).toHaveLength(98)
    expect(verdicts).toEqual(cases.map((one) => ({ case: one['case'], wantErr: one['wantErr'] })))
  })

  test('98 consistency proofs are judged as published', () => {
    const cases = readDataJson('tlog/consistency.json') as Vector[]

    // The vectors hold words instead of hashes if only the equality of two roots matters.
    const rootsOf = (one: Record<string, string>) => {
      const roots = [hexOf(one['root1']!), hexOf(one['root2']!)] as const
      return roots[0] === roots[1] ? roots.map((root) => root.padEnd(64, '0')) : roots
    }
    const verdicts = cases.map(({ proof, ...one }) => ({
      case: one['case'],
      wantErr: !verifyConsistency({
        from: Number(one['size1']),
        to: Number(one['size2']),
        fromRoot: rootsOf(one)[0],
        toRoot: rootsOf(one)[1],
        proof: (proof ?? []).map(hexOf),
      }),
    }))

    expect(verdicts).toHaveLength(98)
    expect(verdicts).toEqual(cases.map((one) => ({ case: one['case'], wantErr: one['wantErr'] })))
  })
})

describe('proofs made from tiles', () => {
  const SIZE = 66_000
  let log: MemoryLog
  const rootAt = new Map<number, string>()

  beforeAll(() => {
    const tree = new MerkleTree()
    rootAt.set(0, tree.root())
    log = memoryLog(Array.from({ length: SIZE }, (_, at) => leafHash(Buffer.from(String(at)))))
    for (const [index, leaf] of log.levels[0]!.entries()) {
      tree.append(leaf)
      if (index < 600 || index > SIZE - 600) rootAt.set(index + 1, tree.root())
    }
  })

  async function included(index: number, size: number): Promise<InclusionClaim> {
    const proof = await inclusionProof(log.readTile, index, size)
    return { index, size, proof, leafHash: log.levels[0]![index]!, root: rootAt.get(size)! }
  }

  async function consistent(from: number, to: number): Promise<ConsistencyClaim> {
    const proof = await consistencyProof(log.readTile, from, to)
    return { from, to, proof, fromRoot: rootAt.get(from)!, toRoot: rootAt.get(to)! }
  }

  test('show every leaf of every small tree', async () => {
    for (let size = 1; size <= 20; size++) {
      for (let index = 0; index < size; index++) {
        expect(verifyInclusion(await included(index, size))).toBe(true)
      }
    }
  })

  test('show every beginning of every small tree', async () => {
    for (let to = 0; to <= 20; to++) {
      for (let from = 0; from <= to; from++) {
        expect(verifyConsistency(await consistent(from, to))).toBe(true)
      }
    }
  })

  const known = fc.oneof(fc.integer({ min: 1, max: 600 }), fc.integer({ min: 65_500, max: SIZE }))

  test('show any leaf of a tree of three tile levels', async () => {
    await fc.assert(
      fc.asyncProperty(known, fc.nat(), async (size, pick) => {
        expect(verifyInclusion(await included(pick % size, size))).toBe(true)
      }),
    )
  })

  test('show any beginning of a tree of three tile levels', async () => {
    await fc.assert(
      fc.asyncProperty(known, known, async (one, other) => {
        const claim = await consistent(Math.min(one, other), Math.max(one, other))

        expect(verifyConsistency(claim)).toBe(true)
      }),
    )
  })

  test('come with the frontier and root of any earlier size', async () => {
    await fc.assert(
      fc.asyncProperty(known, async (size) => {
        const stored = memoryLog(log.levels[0]!.slice(0, size % 700)).tree

        expect(await frontierAt(log.readTile, size % 700)).toEqual(stored.frontier())
        expect(await treeRoot(log.readTile, size)).toBe(rootAt.get(size))
      }),
    )
    expect(await treeRoot(log.readTile, 0)).toBe(emptyRoot)
  })

  test('read few tiles, each once', async () => {
    log.reads.length = 0

    await inclusionProof(log.readTile, 12_345, SIZE)

    expect(new Set(log.reads).size).toBe(log.reads.length)
    expect(log.reads.toSorted()).toEqual(['0/257/208', '0/48/256', '1/0/256', '1/1/1'])
  })

  test('cannot be made for what is not in the tree', async () => {
    await expect(inclusionProof(log.readTile, 5, 5)).rejects.toThrow(RangeError)
    await expect(inclusionProof(log.readTile, -1, 5)).rejects.toThrow(RangeError)
    await expect(inclusionProof(log.readTile, 0, 2 ** 53)).rejects.toThrow(RangeError)
    await expect(inclusionProof(log.readTile, 0, SIZE + 1)).rejects.toThrow(/instead of/)
    await expect(consistencyProof(log.readTile, 6, 5)).rejects.toThrow(RangeError)
  })

  test('are worthless after any change to them', async () => {
    const change = fc.record({
      how: fc.constantFrom('flip', 'drop', 'double', 'swap', 'append', 'reverse'),
      at: fc.nat(),
      digit: fc.nat(63),
    })
    await fc.assert(
      fc.asyncProperty(known, known, change, async (one, other, { how, at, digit }) => {
        const [from, to] = [Math.min(one, other), Math.max(one, other)]
        const inclusion = await included(at % to, to)
        const consistency = await consistent(from, to)
        for (const claim of [inclusion, consistency]) {
          const proof = changed(claim.proof, how, at, digit)
          if (proof.join() === claim.proof.join()) continue

          const verdict =
            claim === inclusion
              ? verifyInclusion({ ...inclusion, proof })
              : verifyConsistency({ ...consistency, proof })
          expect(verdict).toBe(false)
        }
      }),
    )
  })

  test('hold for no other index, size or root', async () => {
    const claim = await included(300, 599)
    const growth = await consistent(300, 599)

    for (const index of [299, 301, 0, 598]) {
      expect(verifyInclusion({ ...claim, index })).toBe(false)
    }
    expect(verifyInclusion({ ...claim, root: rootAt.get(598)! })).toBe(false)
    expect(verifyConsistency({ ...growth, from: 299 })).toBe(false)
    expect(verifyConsistency({ ...growth, toRoot: growth.fromRoot })).toBe(false)
    expect(verifyConsistency({ ...growth, fromRoot: growth.toRoot })).toBe(false)
  })
})

describe('verifying', () => {
  const leaf = leafHash(Buffer.of(1))
  const sibling = leafHash(Buffer.of(2))
  const claim = {
    index: 0,
    size: 2,
    leafHash: leaf,
    proof: [sibling],
    root: nodeHash(leaf, sibling),
  }

  test.each<[string, object]>([
    ['a proof of null', { proof: null }],
    ['a proof of numbers', { proof: [1] }],
    ['a hash in upper case', { leafHash: leaf.toUpperCase() }],
    ['a root that is missing', { root: undefined }],
    ['an index of text', { index: '0' }],
    ['an index of 2^64 - 1', { index: 18446744073709551615n }],
    ['a fractional index', { index: 0.5 }],
    ['a size of NaN', { size: Number.NaN }],
    ['a size beyond 2^53', { size: 2 ** 60 }],
    ['a thousand hashes', { proof: Array.from({ length: 1000 }, () => sibling) }],
  ])('says no to %s', (_, part) => {
    expect(verifyInclusion(claim)).toBe(true)
    expect(verifyInclusion({ ...claim, ...part })).toBe(false)
  })

  test('says no to rubbish about growth', () => {
    const growth = { from: 1, to: 2, fromRoot: leaf, toRoot: claim.root, proof: [sibling] }

    expect(verifyConsistency(growth)).toBe(true)
    expect(verifyConsistency({ ...growth, from: 0 })).toBe(false)
    expect(verifyConsistency({ ...growth, from: 0, proof: [] })).toBe(false)
    expect(verifyConsistency({ ...growth, from: 0, fromRoot: emptyRoot, proof: [] })).toBe(true)
    expect(verifyConsistency({ ...growth, from: 3 })).toBe(false)
    expect(verifyConsistency({ ...growth, proof: null as never })).toBe(false)
    expect(verifyConsistency({ ...growth, to: 2 ** 70 })).toBe(false)
  })
})

function changed(proof: readonly string[], how: string, at: number, digit: number): string[] {
  const copy = [...proof]
  const index = copy.length === 0 ? 0 : at % copy.length
  const hash = copy[index] ?? leafHash(Buffer.of(digit))
  const flipped = (parseInt(hash[digit]!, 16) ^ 8).toString(16)
  if (how === 'flip') copy[index] = hash.slice(0, digit) + flipped + hash.slice(digit + 1)
  else if (how === 'drop') copy.splice(index, 1)
  else if (how === 'double') copy.splice(index, 0, hash)
  else if (how === 'append') copy.push(hash)
  else if (how === 'reverse') copy.reverse()
  else copy.splice(index, 2, ...copy.slice(index, index + 2).toReversed())
  return copy
}
