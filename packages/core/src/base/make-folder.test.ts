import {
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeFolder } from './files.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'remit-folder-'))
  writeFileSync(join(folder, 'file'), '')
  symlinkSync(join(folder, 'nowhere'), join(folder, 'dangling'))
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('a folder that is made', () => {
  test('has the missing folders above it, all with the mode', () => {
    makeFolder(join(folder, 'a/b'), 0o700)
    makeFolder(join(folder, 'a/b'), 0o700)

    for (const name of ['a', 'a/b'])
      expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o700)
  })

  test.each(['file', 'file/a', 'file/a/b', 'dangling', 'dangling/a'])(
    'is not below what is no folder: %s',
    (name) => {
      const [first = ''] = name.split('/')
      expect(() => makeFolder(join(folder, name))).toThrow(`${join(folder, first)} is not a folder`)
    },
  )

  test('is refused, and not tried without an end, where the system has none', () => {
    for (const path of ['/proc/x', '/proc/x/y']) expect(() => makeFolder(path)).toThrow(/\/proc/)
  })

  test('is made by this function alone', () => {
    const root = join(import.meta.dirname, '../../../..')
    const sources = ['apps', 'packages'].flatMap((part) =>
      globSync('*/src/**/*.ts', { cwd: join(root, part) }).map((name) => join(root, part, name)),
    )
    const isOwn = (path: string) => !/\.test\.ts$|\/src\/testing\//.test(path)
    const makesRecursively = (path: string) =>
      /\bmkdir(?:Sync)?\([^;]*\brecursive\b/.test(readFileSync(path, 'utf8'))

    expect(sources.length).toBeGreaterThan(100)
    expect(sources.filter(isOwn).filter(makesRecursively)).toEqual([])
  })
})
