/**
 * Counts the source files and functions that run in one `POST /v1/authorize`, from the precise
 * coverage of V8: `node --conditions=@remit/source scripts/hops.ts [--list]`.
 */
import { Session } from 'node:inspector/promises'
import { setTimeout } from 'node:timers/promises'
import { createTestRemit } from '@remit/core/testing'
import { loadModules } from '../apps/server/src/boot/modules.ts'

const SOURCE = /\/((?:packages|apps)\/[^/]+\/src\/(?!testing\/).*)$/

const remit = await createTestRemit({ modules: await loadModules() })
const { key } = await remit.organization()
const ask = async () => {
  const body = { agent_id: 'invoice-bot', action: 'payments.transfer', resource: 'invoice:4711' }
  const response = await remit.app.request('/v1/authorize', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (response.status !== 200) throw new Error(await response.text())
}

// The first requests fill the caches; background work ends.
for (let i = 0; i < 20; i++) await ask()
await setTimeout(500)
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
await session.post('Profiler.takePreciseCoverage')
await ask()
const { result } = await session.post('Profiler.takePreciseCoverage')
const ran = result.flatMap(({ url, functions }) => {
  const file = SOURCE.exec(url)?.[1]
  // The first range of a module is the module itself.
  const called = functions.filter(
    ({ ranges: [range] }) => range && range.count > 0 && range.startOffset > 0,
  )
  return file !== undefined && called.length > 0 ? [{ file, count: called.length }] : []
})
session.disconnect()
if (process.argv.includes('--list')) for (const { file, count } of ran) console.log(count, file)
console.log(`${ran.length} files, ${ran.reduce((sum, { count }) => sum + count, 0)} functions`)
await remit.close()
