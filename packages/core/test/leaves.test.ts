import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'

const SRC = join(import.meta.dirname, '../src')
const IMPORT =
  /^(?:import|export)\s+(type\s)?(?:[^'"]*\sfrom\s+)?'(\.{1,2}\/[^']+)'|import\('(\.{1,2}\/[^']+)'/gm

/** They put the rooms together: everything below them works without the leaves. */
const WIRING = /^(?:server|core-module|worker)\.ts$|^exports\//
/** The types that a module of another package meets. */
const TYPES = /^module\/(?:module|registry)\.ts$/

interface Import {
  readonly from: string
  readonly to: string
  readonly isType: boolean
}

function importsOf(file: string, text: string): Import[] {
  return Array.from(text.matchAll(IMPORT), ([, type, path, later]) => ({
    from: file,
    to: relative(SRC, join(SRC, dirname(file), path ?? later ?? '')),
    isType: type !== undefined,
  }))
}

const imports = globSync('**/*.ts', { cwd: SRC })
  .filter((file) => !file.endsWith('.test.ts'))
  .flatMap((file) => importsOf(file, readFileSync(join(SRC, file), 'utf8')))

/** Imports of a room that is a leaf from another one, `from > to`. */
const intoLeaf = (leaf: string, all: readonly Import[]): string[] =>
  all
    .filter(({ from, to }) => to.startsWith(`${leaf}/`) && !from.startsWith(`${leaf}/`))
    .filter(({ from, isType }) => !WIRING.test(from) && !(isType && TYPES.test(from)))
    .map(({ from, to }) => `${from} > ${to}`)

describe.each(['guard', 'scorers'])('the room %s', (leaf) => {
  it('is there', () => expect(existsSync(join(SRC, leaf))).toBe(true))

  it('is imported by nothing else in core but the wiring', () => {
    expect(intoLeaf(leaf, imports)).toEqual([])
  })
})

it('an import of a leaf is found in each form', () => {
  const text = `import { check } from '../guard/guard.ts'
import '../guard/guard.ts'
export { check } from '../guard/guard.ts'
export type { Check } from '../guard/guard.ts'
import {
  check,
} from '../guard/guard.ts'
const { check } = await import('../guard/guard.ts')`

  const found = importsOf('module/module.ts', text)

  expect(found.map(({ isType }) => isType)).toEqual([false, false, false, true, false, false])
  expect(intoLeaf('guard', found)).toHaveLength(5)
})
