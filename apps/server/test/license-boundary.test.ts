import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const read = (path: string): string => readFileSync(join(root, path), 'utf8')

/** SHA-256 of the Apache License 2.0 as apache.org publishes it. */
const APACHE_2 = 'cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30'

interface Manifest {
  readonly name: string
  readonly license: string
  readonly files: readonly string[]
  readonly dependencies?: Record<string, string>
  readonly devDependencies?: Record<string, string>
  readonly peerDependencies?: Record<string, string>
  readonly optionalDependencies?: Record<string, string>
}

const packages = ['packages', 'apps', 'tools']
  .flatMap((room) => readdirSync(join(root, room)).map((name) => `${room}/${name}`))
  .filter((folder) => readdirSync(join(root, folder)).includes('package.json'))
  .map((folder) => {
    const { tags } = JSON.parse(read(`${folder}/turbo.json`)) as { tags: string[] }
    return { folder, tags, manifest: JSON.parse(read(`${folder}/package.json`)) as Manifest }
  })

/** Directories that the root LICENSE lists as commercial, whether or not they are present. */
const listed = [...read('LICENSE').matchAll(/^ +(packages\/[a-z-]+)\/$/gm)].map((hit) => hit[1]!)
const commercialNames = listed.map((folder) => folder.replace('packages/', '@remit/'))

describe('licenses', () => {
  test('the root LICENSE lists the commercial directories and gives the open license in full', () => {
    const full = read('LICENSE')
    const apache = read('packages/contract/LICENSE')

    expect(listed.length).toBeGreaterThan(0)
    expect(full.indexOf(listed[0]!)).toBeLessThan(full.indexOf('Apache License\n'))
    expect(full.endsWith(apache)).toBe(true)
    expect(createHash('sha256').update(apache).digest('hex')).toBe(APACHE_2)
  })

  test.each(packages)('$folder carries the license it declares, as a real file', (found) => {
    const commercial = listed.includes(found.folder)
    const path = `${found.folder}/LICENSE`

    // A link would do for a reader, but packing drops it without a word.
    expect(lstatSync(join(root, path)).isFile()).toBe(true)
    expect(read(path)).toBe(read(commercial ? 'LICENSE-ENTERPRISE' : 'packages/contract/LICENSE'))
    expect(found.manifest.license).toBe(commercial ? 'SEE LICENSE IN LICENSE' : 'Apache-2.0')
    expect(found.manifest.files).toContain('LICENSE')
  })
})

describe('dependencies', () => {
  test.each(packages)('$folder is tagged on its side of the boundary', ({ folder, tags }) => {
    const side = listed.includes(folder) ? ['commercial'] : ['open', 'edition']

    expect(tags).toHaveLength(1)
    expect(side).toContain(tags[0])
  })

  test.each(packages)('$folder depends on no commercial package', ({ folder, manifest }) => {
    const { dependencies, devDependencies, peerDependencies, optionalDependencies } = manifest
    const needed = { ...dependencies, ...devDependencies, ...peerDependencies }
    const optional = folder === 'apps/server' ? {} : optionalDependencies
    const named = Object.keys({ ...needed, ...optional })

    expect(named.filter((name) => commercialNames.includes(name))).toEqual([])
  })

  test('only the list of modules in the server names a commercial package', () => {
    const naming = packages
      .filter(({ folder }) => !listed.includes(folder))
      .flatMap(({ folder }) => sourcesBelow(`${folder}/src`))
      .filter((file) => commercialNames.some((name) => read(file).includes(name)))

    expect(naming.filter((file) => file !== 'apps/server/src/boot/modules.ts')).toEqual([])
  })

  test('the console imports only the contract and the verifier of the packages, and nothing beside its sources', () => {
    const folder = 'apps/console/src'
    const isPresent = packages.some((found) => folder.startsWith(`${found.folder}/`))
    const files = isPresent ? sourcesBelow(folder).filter((file) => /\.tsx?$/.test(file)) : []
    const imported = files.flatMap((file) =>
      [...read(file).matchAll(/(?:from|import)\s*\(?'([^']+)'/g)].map(([, name = '']) =>
        name.startsWith('.') ? join(file, '..', name) : name,
      ),
    )
    const isForeign = (name: string) =>
      (name.startsWith('@remit/') && !/^@remit\/(?:contract(?:\/|$)|verify\/pure$)/.test(name)) ||
      (/^(?:apps|packages|tools)\//.test(name) && !name.startsWith(`${folder}/`))

    expect(imported.length > 100).toBe(isPresent)
    expect(imported.filter(isForeign)).toEqual([])
  })

  test('the linter knows every commercial package by name', () => {
    const config = read('.oxlintrc.json')

    expect(commercialNames.filter((name) => !config.includes(`"${name}"`))).toEqual([])
  })
})

function sourcesBelow(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
}
