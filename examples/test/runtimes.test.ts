import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { inFullRun } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { build } from 'vite'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const run = promisify(execFile)
const sdk = resolve(import.meta.dirname, '../../packages/sdk/src/index.ts')

/** A program without anything of Node; it reports through `report` where there is one. */
const programFor = (url: string, key: string) => `
import { createClient, createGate } from ${JSON.stringify(sdk)}
const client = createClient({ baseUrl: ${JSON.stringify(url)}, key: ${JSON.stringify(key)} })
const gate = createGate({ client, agentId: 'runtime', map: { pay: { amount: '/usd' } } })
const main = async () => {
  const pay = gate.wrap('pay', ({ usd }) => 'paid ' + usd)
  const denied = await gate.check({ tool: 'denied', input: { text: 'caf\\u00e9 \\ud800' } })
  const { enforced } = await gate.selfTest()
  return [await pay({ usd: 2, big: 2n ** 64n }), denied.kind, denied.reason, enforced].join()
}
main().then(
  (text) => (globalThis.report ?? console.log)(text),
  (error) => (globalThis.report ?? console.log)(String(error)),
)
`

const EDGE = `
import { readFileSync } from 'node:fs'
import { EdgeVM } from '@edge-runtime/vm'
const report = (text) => console.log(text)
const vm = new EdgeVM({ extend: (context) => Object.assign(context, { report }) })
if (vm.evaluate('typeof process') !== 'undefined') throw new Error('this is Node')
vm.evaluate(readFileSync('program.js', 'utf8'))
`

describe.skipIf(!inFullRun('installing Deno and Bun') || !hasModules())('the gate runs in', () => {
  const temp = mkdtempSync(join(tmpdir(), 'remit-runtimes-'))
  let server: RemitServer
  beforeAll(async () => {
    server = await startRemit()
    await server.client.createPolicy({ body: { effect: 'deny', actions: ['denied'] } })
    writeFileSync(join(temp, 'package.json'), '{"private":true,"type":"module"}')
    writeFileSync(join(temp, 'edge.js'), EDGE)
    writeFileSync(join(temp, 'entry.js'), programFor(server.url, server.org.key))
    await build({
      configFile: false,
      logLevel: 'silent',
      resolve: { conditions: ['@remit/source', 'browser', 'import'] },
      build: {
        outDir: temp,
        emptyOutDir: false,
        target: 'es2024',
        lib: {
          entry: join(temp, 'entry.js'),
          formats: ['iife'],
          name: 'program',
          fileName: () => 'program.js',
        },
      },
    })
    const packages = ['deno@2', 'bun@1', '@edge-runtime/vm@5', 'node@20']
    await run('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: temp })
  }, 600_000)
  afterAll(async () => {
    await server.stop()
    rmSync(temp, { recursive: true, force: true })
  })

  it.each([
    ['Deno', 'deno', ['run', '--quiet', '--allow-net', 'program.js']],
    ['Bun', 'bun', ['program.js']],
    ['Node 20', 'node', ['program.js']],
    ['an edge runtime', process.execPath, ['edge.js']],
  ])('%s', async (_, program, args) => {
    const path = program.startsWith('/') ? program : join(temp, 'node_modules/.bin', program)
    const { stdout } = await run(path, args, { cwd: temp })

    expect(stdout.trim()).toBe('paid 2,deny,policy_deny,true')
    const { data } = await server.client.listEntries({ query: { agent_id: 'runtime', limit: 1 } })
    expect(data).toMatchObject([{ kind: 'entry.appended', data: { outcome: 'success' } }])
  })
})
