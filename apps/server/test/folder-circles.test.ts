import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const packages = ['packages', 'apps']
  .flatMap((room) => readdirSync(join(root, room)).map((name) => `${room}/${name}`))
  .filter((folder) => existsSync(join(root, folder, 'src')))

const IMPORT = /(?:from|import)\s*\(?\s*'(\.{1,2}\/[^']+)'|new URL\('(\.{1,2}\/[^']+\.ts)'/g

interface Import {
  readonly from: string
  readonly to: string
}

/** Imports between files of a package that are not tests, as paths below `src`. */
function importsIn(src: string): Import[] {
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .flatMap((from) =>
      [...readFileSync(join(src, from), 'utf8').matchAll(IMPORT)]
        .map((hit) => join(src, dirname(from), (hit[1] ?? hit[2])!))
        .filter((target) => target.startsWith(src) && existsSync(target))
        .map((target) => ({ from, to: relative(src, target) })),
    )
}

/** The first segment of a path below `src`; `.` for files at the root. */
const folderOf = (file: string): string => (file.includes('/') ? file.split('/')[0]! : '.')

/** Imports from one top-level folder to another. An entry point, which no folder imports, is in no folder. */
function betweenFolders(imports: readonly Import[]): Map<string, Set<string>> {
  const imported = new Set(imports.filter(({ from }) => folderOf(from) !== '.').map(({ to }) => to))
  const edges = new Map<string, Set<string>>()
  for (const { from, to } of imports) {
    const [importer, target] = [folderOf(from), folderOf(to)]
    if (importer === target || (importer === '.' && !imported.has(from))) continue
    edges.set(importer, (edges.get(importer) ?? new Set()).add(target))
  }
  return edges
}

/** A path of folders that ends where it begins; null if there is none. */
function circleIn(edges: ReadonlyMap<string, ReadonlySet<string>>): string[] | null {
  const done = new Set<string>()
  const visit = (folder: string, path: readonly string[]): string[] | null => {
    if (path.includes(folder)) return [...path.slice(path.indexOf(folder)), folder]
    if (done.has(folder)) return null
    for (const next of edges.get(folder) ?? []) {
      const circle = visit(next, [...path, folder])
      if (circle) return circle
    }
    done.add(folder)
    return null
  }
  for (const folder of edges.keys()) {
    const circle = visit(folder, [])
    if (circle) return circle
  }
  return null
}

test.each(packages)('the folders of %s import each other in one direction', (folder) => {
  expect(circleIn(betweenFolders(importsIn(join(root, folder, 'src'))))).toBeNull()
})

test('a circle is found through several folders', () => {
  const edges = betweenFolders([
    { from: 'index.ts', to: 'a/one.ts' },
    { from: 'a/one.ts', to: 'b/two.ts' },
    { from: 'b/two.ts', to: 'c/three.ts' },
    { from: 'c/three.ts', to: 'a/four.ts' },
  ])

  expect(circleIn(edges)).toEqual(['a', 'b', 'c', 'a'])
})
