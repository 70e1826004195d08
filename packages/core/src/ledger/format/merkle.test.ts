import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { memoryLog } from '../../../test/ledger/memory-tiles.ts'
import { describeWithData, readDataJson } from '../../../test/shared-data.ts'
import {
  MerkleTree,
  decodeFrontier,
  emptyRoot,
  encodeFrontier,
  leafHash,
  nodeHash,
} from './merkle.ts'

const leafOf = (index: number) => leafHash(Buffer.from(`leaf ${index}`))
const leaves = (count: number) => Array.from({ length: count }, (_, index) => leafOf(index))

describeWithData('tlog')('the published trees', () => {
  test('the RFC 6962 reference tree has its roots at every size', () => {
    const published = readDataJson('tlog/tree.json') as {
      leaf_inputs_hex: string[]
      node_hashes_hex_by_level: string[][]
      root_hashes_hex_by_size: string[]
    }
    const hashes = published.leaf_inputs_hex.map((hex) => leafHash(Buffer.from(hex, 'hex')))
    const tree = new MerkleTree()

    const roots = [tree.root(), ...hashes.map((hash) => (tree.append(hash), tree.root()))]

    expect(hashes).toEqual(published.node_hashes_hex_by_level[0])
    expect(roots).toEqual(published.root_hashes_hex_by_size)
  })

  test('the roots of one-byte leaves agree up to 256', () => {
    const published = readDataJson('tlog/roots-byte-leaves.json') as { root_hex_by_size: string[] }
    const tree = new MerkleTree()

    const roots = [tree.root()]
    for (let value = 0; value < 256; value++) {
      tree.append(leafHash(Buffer.of(value)))
      roots.push(tree.root())
    }

    expect(roots).toEqual(published.root_hex_by_size)
  })
})

describe('the tree', () => {
  test('without leaves has the hash of nothing as its root', () => {
    expect(new MerkleTree().root()).toBe(
      'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    )
    expect(new MerkleTree().root()).toBe(emptyRoot)
  })

  test('goes on from a stored frontier as if it had never stopped', () => {
    fc.assert(
      fc.property(fc.nat(300), fc.nat(300), (before, after) => {
        const hashes = leaves(before + after)
        const whole = memoryLog(hashes).tree
        const first = memoryLog(hashes.slice(0, before)).tree
        const text = encodeFrontier(first.frontier())

        const second = new MerkleTree(decodeFrontier(before, text))
        for (const hash of hashes.slice(before)) second.append(hash)

        expect(second.frontier()).toEqual(whole.frontier())
        expect(second.root()).toBe(whole.root())
      }),
    )
  })

  test('hands out frontiers that later appends do not change', () => {
    const tree = memoryLog(leaves(3)).tree
    const frontier = tree.frontier()

    tree.append(leafOf(3))

    expect(frontier.size).toBe(3)
    expect(frontier.nodes).toEqual([nodeHash(leafOf(0), leafOf(1)), leafOf(2)])
  })

  test('reports each full tile once, as it closes', () => {
    const { tree, levels } = memoryLog(leaves(256 * 256 + 257))
    const firstTile = new MerkleTree()
    for (const hash of leaves(256)) firstTile.append(hash)

    expect(levels.map((level) => level.length)).toEqual([65_793, 257, 1])
    expect(levels[1]?.[0]).toBe(firstTile.root())
    expect(levels[2]?.[0]).toBe(tree.frontier().nodes[0])
  })

  test('counts beyond 32 bits', () => {
    const size = 2 ** 40 + 3
    const nodes = ['a', 'b', 'c'].map((digit) => digit.repeat(64))
    const tree = new MerkleTree({ size, nodes })

    tree.append('d'.repeat(64))

    const pair = nodeHash(nodes[1]!, nodeHash(nodes[2]!, 'd'.repeat(64)))
    expect(tree.frontier()).toEqual({ size: 2 ** 40 + 4, nodes: [nodes[0], pair] })
    expect(tree.root()).toBe(nodeHash(nodes[0]!, pair))
  })
})

test('a tree of 2^33 - 1 leaves becomes a single node with one more', () => {
  const nodes = Array.from({ length: 33 }, () => 'a'.repeat(64))
  const tree = new MerkleTree({ size: 2 ** 33 - 1, nodes })

  tree.append('b'.repeat(64))

  expect(tree.frontier()).toMatchObject({ size: 2 ** 33, nodes: [tree.root()] })
})

describe('a stored frontier', () => {
  const text = encodeFrontier(memoryLog(leaves(7)).tree.frontier())

  test('has 64 digits for each one-bit of the size', () => {
    expect(text).toMatch(/^[0-9a-f]{192}$/)
    expect(encodeFrontier(decodeFrontier(7, text))).toBe(text)
    expect(decodeFrontier(0, '')).toEqual({ size: 0, nodes: [] })
  })

  test.each<[string, number, string]>([
    ['another size', 8, text],
    ['a cut text', 7, text.slice(1)],
    ['a longer text', 7, `${text}0`],
    ['a missing node', 7, text.slice(64)],
    ['upper case', 7, text.toUpperCase()],
    ['newlines', 7, '\n'.repeat(192)],
    ['a negative size', -1, ''],
    ['a size beyond 2^53', 2 ** 53, text.slice(0, 64)],
  ])('is refused with %s', (_, size, stored) => {
    expect(() => decodeFrontier(size, stored)).toThrow(RangeError)
  })
})
