import { execFileSync } from 'node:child_process'
import { mkdtempSync, openSync, closeSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readWholeFile, requireRegularFile } from './files.ts'

let folder: string
const at = (name: string) => join(folder, name)
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'remit-file-'))
  execFileSync('mkfifo', [at('pipe')])
  writeFileSync(at('text'), 'text')
  writeFileSync(at('large'), '')
  truncateSync(at('large'), 3 * 2 ** 30)
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('a file to read', () => {
  test('is a regular file, or an open file of the process by its number', () => {
    const file = openSync(at('text'), 'r')
    expect(readWholeFile(at('text')).toString()).toBe('text')
    expect(readWholeFile(`/dev/fd/${file}`).toString()).toBe('text')
    closeSync(file)
    for (const path of ['/dev/stdin', '/dev/fd/63', '/proc/self/fd/63', '/proc/1/fd/63'])
      expect(() => requireRegularFile(path), path).not.toThrow()
  })

  test.each(['.', 'pipe', '/dev/null', '/dev/zero'])(
    'is not what may wait without an end: %s',
    (name) => {
      const path = name.startsWith('/') ? name : at(name)
      expect(() => readWholeFile(path)).toThrow('it is not a regular file')
    },
  )

  test('is not larger than the limit, which is told in plain words', () => {
    expect(() => readWholeFile(at('large'))).toThrow('it is larger than 64 MiB')
    expect(() => readWholeFile(at('large'), 8)).toThrow('it is larger than 8 MiB')
    truncateSync(at('large'), 8 * 2 ** 20)
    expect(readWholeFile(at('large'), 8)).toHaveLength(8 * 2 ** 20)
  })
})
