import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
const folder = join(root, 'docs/sdk')
// The pages of adapters; that of Go has the tests of its package.
const pages = readdirSync(folder)
  .filter((name) => name.endsWith('.md') && name !== 'go.md')
  .map((name) => name.replace(/\.md$/, ''))
const MAX_LINES = 6

/** The lines of code in the blocks of a file. */
const linesOf = (path: string, language: 'python' | 'ts'): string[][] =>
  readFileSync(path, 'utf8')
    .split(/^```/m)
    .filter((part) => part.startsWith(`${language}\n`))
    .map((block) =>
      block
        .split('\n')
        .slice(1)
        .map((line) => line.trim())
        .filter((line) => line !== '' && !line.startsWith('//')),
    )

const blocksOf = (page: string) => linesOf(join(folder, `${page}.md`), 'ts')

const readImport = (line: string) => {
  const [, names = '', module = ''] = /^import \{ (.+) \} from '(.+)'$/.exec(line) ?? []
  return { names: names.split(', '), module }
}

describe('the pages of the adapters', () => {
  it('are one for each', () => {
    const { exports } = JSON.parse(
      readFileSync(join(root, 'packages/sdk/package.json'), 'utf8'),
    ) as { exports: Record<string, unknown> }
    const others = new Set(['.', './doctor', './guard', './hook', './node'])
    const adapters = Object.keys(exports).filter((path) => !others.has(path))
    const shown = pages.map((page) => {
      const text = readFileSync(join(folder, `${page}.md`), 'utf8')
      return /'@remit\/sdk(\/(?!node)[a-z-]+)'/.exec(text)?.[1]
    })

    expect(shown.map((path) => `.${path}`).toSorted()).toEqual(adapters.toSorted())
  })

  it.each(pages)('%s shows at most six lines to write', (page) => {
    expect(blocksOf(page)[0]?.length).toBeGreaterThan(0)
    expect(blocksOf(page)[0]?.length).toBeLessThanOrEqual(MAX_LINES)
  })

  it.each([
    ['docs/sdk.md', 'ts', 2],
    ['docs/sdk.md', 'python', 1],
    ['packages/sdk/README.md', 'ts', 1],
    ['sdks/python/README.md', 'python', 4],
  ] as const)('%s shows at most six lines of %s to write', (path, language, count) => {
    const blocks = linesOf(join(root, path), language)

    expect(blocks).toHaveLength(count)
    expect(Math.max(...blocks.map((lines) => lines.length))).toBeLessThanOrEqual(MAX_LINES)
  })

  it.each(pages)('%s shows lines of the example that is run', (page) => {
    const example = readFileSync(join(root, 'examples', page, 'agent.ts'), 'utf8').split('\n')
    const lines = new Set(example.map((line) => line.trim()))
    const imports = [...lines].filter((line) => line.startsWith('import ')).map(readImport)

    const isInExample = (line: string): boolean => {
      if (!line.startsWith('import ')) return lines.has(line)
      const { names, module } = readImport(line)
      const same = imports.filter((one) => one.module === module)
      const imported = new Set(same.flatMap((one) => one.names))
      return names.every((name) => imported.has(name))
    }
    expect(
      blocksOf(page)
        .flat()
        .filter((line) => !isInExample(line)),
    ).toEqual([])
  })
})
