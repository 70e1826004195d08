import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

/** The modules that a process loads when it imports one and nothing else. */
function modulesOf(path: string): string[] {
  const program = `
    const { registerHooks } = require('node:module')
    const urls = []
    registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) })
    import(${JSON.stringify(path)}).then(() => console.log(JSON.stringify(urls)))`
  const args = ['--conditions=@remit/source', '--eval', program]
  const options = { cwd: join(import.meta.dirname, '..'), encoding: 'utf8' } as const
  const urls = JSON.parse(execFileSync(process.execPath, args, options)) as string[]
  return urls.filter((url) => !url.startsWith('node:'))
}

// A test of one of them then starts in a second: most of the time of a start is modules.
test.each([
  ['budgets/limits.ts', 200],
  ['budgets/evaluate.ts', 200],
  ['policies/evaluate.ts', 200],
  ['delegation/authority.ts', 230],
])('src/%s loads at most %i modules, no schemas and no database', (path, most) => {
  const loaded = modulesOf(`./src/${path}`)

  expect(loaded.length, loaded.join('\n')).toBeLessThanOrEqual(most)
  expect(loaded.filter((url) => /node_modules\/(?:zod|ajv|kysely|pg)\//.test(url))).toEqual([])
})
