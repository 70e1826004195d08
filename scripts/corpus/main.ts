/**
 * Runs the corpus, thousands of requests through every door of the decision path, with fixed ids, times
 * and random bytes, and compares digests of all answers and rows with those of `digests.json`. See
 * CONTRIBUTING.
 */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { parseArgs, promisify } from 'node:util'
import { DIALECTS, startPostgres } from './product.ts'
import { PARTS } from './requests.ts'

const HERE = import.meta.dirname
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Folder for the whole record, to compare two trees byte for byte. */
    record: { type: 'string' },
    dialect: { type: 'string', multiple: true, default: [...DIALECTS] },
    seed: { type: 'string', default: '1' },
    /** Share of the requests. */
    share: { type: 'string', default: '1' },
    /** Writes `digests.json`. */
    update: { type: 'boolean', default: false },
  },
})
const { record, dialect: dialects, seed, share, update } = values
const isWhole = seed === '1' && share === '1'
const parts = positionals.length > 0 ? positionals : [...PARTS.keys()]

interface Result {
  readonly digests: Readonly<Record<string, string>>
  readonly count: number
  readonly seconds: number
  readonly reached: readonly string[]
}

const env: NodeJS.ProcessEnv = {
  ...process.env,
  NODE_COMPILE_CACHE: 'node_modules/.cache/remit-test',
}
async function run(dialect: string, part: string): Promise<Result> {
  const command = ['--conditions=@remit/source', '--import', `${HERE}/determinism.ts`]
  const folder = record === undefined ? [] : [`${record}/${dialect}`]
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...command, `${HERE}/run-part.ts`, dialect, part, share, ...folder],
    { env: { ...env, REMIT_CORPUS_SEED: `${seed} ${part}` }, maxBuffer: 2 ** 26 },
  )
  return JSON.parse(stdout) as Result
}

const file = `${HERE}/digests.json`
const known = JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>
const found: Record<string, string> = {}
const reached = new Set<string>()
const different: string[] = []
const postgres = dialects.includes('postgres') ? await startPostgres() : null
if (postgres) env['REMIT_TEST_DATABASE_URL'] = postgres.url
for (const dialect of dialects) {
  let requests = 0
  let seconds = 0
  const waiting = [...parts]
  const work = async () => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
      const result = await run(dialect, part)
      requests += result.count
      seconds += result.seconds
      for (const word of result.reached) reached.add(word)
      for (const [name, digest] of Object.entries(result.digests)) {
        found[`${dialect}/${name}`] = digest
        if (known[`${dialect}/${name}`] !== digest) different.push(`${dialect}/${name}`)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work))
  console.log(`${dialect}: ${requests} requests in ${Math.round(seconds)} s of CPU`)
}
await postgres?.stop()

console.log(`reached ${reached.size} reasons and errors: ${[...reached].toSorted().join(' ')}`)
if (update) {
  const all = Object.entries({ ...known, ...found }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`)
} else if (!isWhole) {
  for (const [name, digest] of Object.entries(found)) console.log(digest, name)
} else if (different.length > 0) {
  console.log(`other answers or rows than in digests.json:\n${different.toSorted().join('\n')}`)
  process.exitCode = 1
} else {
  console.log('the same answers and rows as in digests.json')
}
