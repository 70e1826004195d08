/**
 * Measures the path of a decision in this tree, `node --conditions=@remit/source scripts/decision-path.ts
 * [--list]`: the modules that the decider and the stages load; the source files and functions that run in
 * one warm `POST /v1/authorize` under a spend limit, from the precise coverage of V8; the statements of a
 * warm decision and of the first one after a change of a policy, on SQLite.
 */
import { globSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { Session } from 'node:inspector/promises'
import { resolve } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import SqliteDatabase from 'better-sqlite3'

const SOURCE = /\/((?:packages|apps)\/(?!testing\/)[^/]+\/src\/.*)$/
const { list } = parseArgs({ options: { list: { type: 'boolean', default: false } } }).values
const say = (summary: string, items: readonly string[]) =>
  console.log([...(list ? items.map((item) => `  ${item}`) : []), summary].join('\n'))

const loaded: string[] = []
const hooks = registerHooks({
  load(url, context, next) {
    if (!url.startsWith('node:')) loaded.push(url)
    return next(url, context)
  },
})
const parts = globSync('packages/*/src/*/{decider,stage}.ts')
for (const part of parts.toSorted()) {
  await import(pathToFileURL(resolve(part)).href)
  console.log(`${loaded.length} modules after ${part}`)
}
hooks.deregister()

// Only now, so that the count above is of the decision alone.
const { createApi } = await import('@remit/testing')
const { listen } = await import('../apps/server/src/boot/listen.ts')
const { loadModules } = await import('../apps/server/src/boot/modules.ts')

const api = await createApi({
  dialect: 'sqlite',
  modules: await loadModules(),
  rateLimit: 1_000_000,
})
const server = await listen(api.remit.app, { host: '127.0.0.1', port: 0 })
await api.ok('setSpendLimit', { params: { id: 'invoice-bot' }, body: { daily_usd: 1e9 } })
const policy = { effect: 'allow', agents: ['invoice-bot'] } as const
await api.ok('createPolicy', { body: policy })

async function decide(): Promise<void> {
  const body = {
    agent_id: 'invoice-bot',
    action: 'payments.transfer',
    resource: 'invoice:4711',
    context: { amount_usd: 12.5 },
  }
  const response = await fetch(`${server.url}/v1/authorize`, {
    method: 'POST',
    headers: { authorization: `Bearer ${api.org.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await response.text()
  if (response.status !== 200 || !text.includes('"decision":"allow"')) throw new Error(text)
}

// The first requests fill the caches; background work ends.
for (let i = 0; i < 20; i++) await decide()
await setTimeout(500)
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })

/** The name that V8 gives to the initializers of the fields of a class. */
const FIELDS = '<instance_members_initializer>'

/** The source files and the functions of them that run in a decision. */
async function coverage(): Promise<{ file: string; names: string[] }[]> {
  await session.post('Profiler.takePreciseCoverage')
  await decide()
  const { result } = await session.post('Profiler.takePreciseCoverage')
  return result.flatMap(({ url, functions }) => {
    const file = SOURCE.exec(url)?.[1]
    // The first range of a module is the module itself. The fields of a class are no function of the source.
    const called = functions.filter(
      ({ functionName, ranges: [range] }) =>
        functionName !== FIELDS && range && range.count > 0 && range.startOffset > 0,
    )
    const names = called.map(({ functionName }) => functionName || '(arrow)')
    return file !== undefined && called.length > 0 ? [{ file, names }] : []
  })
}

// Background work may run beside a decision, but not beside each of several.
const runs: Awaited<ReturnType<typeof coverage>>[] = []
for (let i = 0; i < 5; i++) runs.push(await coverage())
session.disconnect()
const functionsOf = (run: (typeof runs)[number]) => run.flatMap(({ names }) => names).length
const [ran = []] = runs.toSorted((one, other) => functionsOf(one) - functionsOf(other))
say(
  `${ran.length} files and ${functionsOf(ran)} functions in a warm decision`,
  ran.map(({ file, names }) => `${names.length} ${file}: ${names.join(', ')}`),
)

// Every statement of every database of the process, begin and commit too.
const probe = new SqliteDatabase(':memory:')
const statements = Object.getPrototypeOf(probe.prepare('select 1')) as SqliteDatabase.Statement
const sent: string[] = []
for (const name of ['all', 'run', 'get', 'iterate'] as const) {
  const original = statements[name] as (...values: unknown[]) => unknown
  const recording = function (this: SqliteDatabase.Statement, ...values: unknown[]) {
    sent.push(this.source)
    return original.apply(this, values)
  }
  Object.assign(statements, { [name]: recording })
}
// Background work may send one beside a decision, but not beside each of three.
const warm: string[][] = []
for (let i = 0; i < 3; i++) {
  await decide()
  warm.push(sent.splice(0))
}
const [least = []] = warm.toSorted((a, b) => a.length - b.length)
say(`${least.length} statements in a warm decision`, least)
await api.ok('createPolicy', { body: { ...policy, actions: ['payments.*'] } })
sent.length = 0
await decide()
say(`${sent.length} statements in the first decision after a change of a policy`, sent)

await server.stop()
await api.remit.close()
