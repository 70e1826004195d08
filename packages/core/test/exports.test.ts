import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Sqlite from 'better-sqlite3'
import { describe, expect, it } from 'vitest'
import { checkContent } from '../src/exports/guard.ts'
import { canonicalJson, parseStrictJson } from '../src/exports/json.ts'
import { openLedger } from '../src/exports/ledger.ts'
import { listScorers, scoreResults } from '../src/exports/scorers.ts'

const run = promisify(execFile)
const PACKAGE = join(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** Most modules that a process loads with one sub-path; null for those whose packages are tested below. */
const MOST_MODULES: Readonly<Record<string, number | null>> = {
  './base': 20,
  './caller': 6,
  './db': 280,
  './db/open': 345,
  './decision': 20,
  './decision/recorded': 190,
  './guard': null,
  './guard/internals': null,
  './http': 230,
  './http/console': 290,
  './json': null,
  './keys': 300,
  './kms': 20,
  './ledger': null,
  './ledger/lanes': 12,
  './ledger/proofs': 25,
  './ledger/records': 330,
  './module': 5,
  './net': 20,
  './orgs': 540,
  './orgs/settings': 450,
  './pattern': 5,
  './scorers': null,
  './secrets': 20,
  './server': null,
  './telemetry': 20,
  './threads': 20,
}

/** Modules of core that are no sub-path. */
const INNER = ['./src/authorize/decider.ts', './src/worker.ts']

/** The modules that each module imports or requires, from one process that loads all. */
const graph = (async (): Promise<Readonly<Record<string, readonly string[]>>> => {
  const roots = [
    ...Object.keys(manifest.exports).map((path) => `@remit/core${path.slice(1)}`),
    ...INNER,
  ]
  const program = `
    import { registerHooks } from 'node:module'
    const roots = ${JSON.stringify(roots)}
    const graph = {}
    registerHooks({
      resolve(specifier, context, next) {
        const found = next(specifier, context)
        const isRoot = context.parentURL.endsWith('/[eval1]')
        if (!found.url.startsWith('node:'))
          (graph[isRoot ? specifier : context.parentURL] ??= []).push(found.url)
        return found
      },
    })
    for (const root of roots) await import(root)
    console.log(JSON.stringify(graph))`
  const options = { cwd: PACKAGE, maxBuffer: 1 << 26 }
  const args = ['--conditions=@remit/source', '--input-type=module', '--eval', program]
  const { stdout } = await run(process.execPath, args, options)
  return JSON.parse(stdout) as Record<string, string[]>
})()

/** The modules that a process loads when it imports one and nothing else. */
async function modulesOf(specifier: string): Promise<string[]> {
  const edges = await graph
  const found = new Set(edges[specifier])
  for (const url of found) for (const next of edges[url] ?? []) found.add(next)
  return [...found]
}

async function packagesOf(specifier: string): Promise<string[]> {
  const names = (await modulesOf(specifier)).flatMap(
    (url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [],
  )
  return [...new Set(names)]
}

describe('the sub-paths of @remit/core', () => {
  it('are those of this table, and the package itself cannot be imported', () => {
    expect(Object.keys(manifest.exports).toSorted()).toEqual(Object.keys(MOST_MODULES).toSorted())
    expect(() => import.meta.resolve('@remit/core')).toThrow('No "exports" main defined')
  })

  it.each(Object.keys(manifest.exports))('%s names what it exports', (path) => {
    const entry = manifest.exports[path]?.['@remit/source'] ?? ''

    expect(readFileSync(join(PACKAGE, entry), 'utf8')).not.toMatch(/^export (?:type )?\*/m)
  })

  it.each(Object.entries(MOST_MODULES).filter(([, most]) => most !== null))(
    '%s loads at most %i modules',
    async (path, most) => {
      const loaded = await modulesOf(`@remit/core${path.slice(1)}`)

      expect(loaded.length, loaded.join('\n')).toBeLessThanOrEqual(most ?? 0)
    },
  )
})

it('the decider loads fewer than 300 modules, and of packages the query builder and the cache', async () => {
  const path = './src/authorize/decider.ts'

  expect((await modulesOf(path)).length).toBeLessThan(300)
  expect((await packagesOf(path)).toSorted()).toEqual(['kysely', 'lru-cache'])
})

describe('importing a sub-path loads only the packages it needs:', () => {
  it('@remit/core/json: none', async () => {
    expect(await packagesOf('@remit/core/json')).toEqual([])
  })

  it('@remit/core/guard: zod', async () => {
    expect(await packagesOf('@remit/core/guard')).toEqual(['zod'])
  })

  it('@remit/core/scorers: no server and no database', async () => {
    const loaded = await packagesOf('@remit/core/scorers')

    expect(loaded).toContain('ajv')
    expect(loaded).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:hono|kysely|pg|better-sqlite3|pino)$/)]),
    )
  })

  it('@remit/core/ledger: no server', async () => {
    const loaded = await packagesOf('@remit/core/ledger')

    expect(loaded).toContain('better-sqlite3')
    expect(loaded).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:hono|ajv|prom-client)$/)]),
    )
  })

  it('@remit/core/ledger/records and @remit/core/db/open: no server', async () => {
    const paths = [
      '@remit/core/ledger/records',
      '@remit/core/db/open',
      '@remit/core/decision/recorded',
    ]
    const loaded = (await Promise.all(paths.map(packagesOf))).flat()

    expect(loaded).toContain('better-sqlite3')
    expect(loaded).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:hono|ajv|pino|prom-client)$/)]),
    )
  })

  it('a worker thread: no server and no database', async () => {
    const loaded = await packagesOf('./src/worker.ts')

    expect(loaded).toContain('zod')
    expect(loaded).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(?:hono|kysely|pg|better-sqlite3|pino)$/)]),
    )
  })
})

describe('@remit/core/guard', () => {
  it('applies the defaults of the API', () => {
    expect(checkContent({ content: 'hello' })).toMatchObject({ action: 'allow', threshold: 0.5 })
  })

  it('names the faulty field', () => {
    expect(() => checkContent({ content: 'hello', source: 'web' as never })).toThrow(
      'source: must be user, tool, document or system',
    )
    expect(() => checkContent({})).toThrow('content: requires either content or messages')
  })
})

describe('@remit/core/scorers', () => {
  it('lists the scorers and refuses others', async () => {
    const names = listScorers().map(({ name }) => name)

    expect(names).toContain('exact_match')
    await expect(scoreResults({ scorer: 'exact', results: [{ output: 1 }] })).rejects.toMatchObject(
      {
        code: 'scorer_not_found',
        extras: { extensions: { available: names } },
      },
    )
  })

  it('names the faulty field', async () => {
    await expect(scoreResults({ scorer: 'exact_match', results: [] })).rejects.toThrow(
      'results: must not be empty',
    )
  })
})

describe('@remit/core/json', () => {
  it('reads strictly and writes canonically', () => {
    const bytes = Buffer.from('{"b":1,"a":2}')

    expect(canonicalJson(parseStrictJson(bytes))).toBe('{"a":2,"b":1}')
    expect(() => parseStrictJson(Buffer.from('{"a":1,"a":2}'))).toThrow('a')
  })
})

describe('@remit/core/ledger', () => {
  it('finds a change of an entry that it appended', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'remit-'))
    const open = () =>
      openLedger({ database: `sqlite:${folder}/audit.db`, keyFile: `${folder}/audit.key` })
    try {
      const ledger = await open()
      const numbers = [1, 2, 3]
      const appended = await Promise.all(
        numbers.map((invoice) => ledger.append({ kind: 'invoice.paid', data: { invoice } })),
      )
      expect(appended.map(({ row }) => row.seq)).toEqual([3, 4, 5])
      expect(await ledger.checkpoint()).toMatch(/^localhost\/ledger\/org_.*\n6\n/)
      expect(await ledger.verify()).toMatchObject({ status: 'ok', checked: { entries: 6 } })
      await ledger.close()

      const file = new Sqlite(`${folder}/audit.db`)
      file.exec('drop trigger ledger_entry_is_final')
      file.exec(`update ledger_entry set payload = replace(payload, '2', '9') where seq = 4`)
      file.close()
      const again = await open()
      expect(await again.verify()).toMatchObject({ status: 'tampered', first_invalid: { seq: 4 } })
      await again.close()
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
