import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const SRC = join(import.meta.dirname, '../src')
const page = readFileSync(join(SRC, '../../../ARCHITECTURE.md'), 'utf8')
const section = (heading: string): string =>
  page.split(`\n${heading}\n`)[1]?.split('\n## ')[0] ?? ''

describe('ARCHITECTURE.md', () => {
  it('names the folders of core, each once', () => {
    const table = section('### packages/core').split('\n### ')[0] ?? ''
    const named = Array.from(table.matchAll(/^\| `([\w-]+)`/gm), ([, name]) => name)
    const folders = readdirSync(SRC, { withFileTypes: true }).filter((one) => one.isDirectory())

    expect(new Set(named)).toEqual(new Set(folders.map(({ name }) => name)))
    expect(named).toHaveLength(folders.length)
  })

  it('names the thirteen shapes of a decision, with their files', () => {
    const rows = Array.from(
      section('## One decision').matchAll(/^\| `(\w+)` \((?:`([\w/-]+)`|contract)\)/gm),
      ([, name = '', file]) => ({ name, file }),
    )

    expect(rows).toHaveLength(13)
    for (const { name, file } of rows) {
      const path = file === undefined ? '../../contract/src' : `${file}.ts`
      const texts = file === undefined ? textsOf(path) : [readFileSync(join(SRC, path), 'utf8')]
      const isExported = new RegExp(`^export (?:class|interface|type) ${name}\\b`, 'm')
      expect(
        texts.some((text) => isExported.test(text)),
        name,
      ).toBe(true)
    }
  })
})

const textsOf = (folder: string): string[] =>
  readdirSync(join(SRC, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(SRC, folder, file), 'utf8'))
