import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { inFullRun } from '../src/runs.ts'

const isRun = inFullRun('running Vitest')
const ROOT = resolve(import.meta.dirname, '..')
const SERVER = JSON.stringify(join(ROOT, 'src/postgres-server.ts'))

/** Runs Vitest on one test with this body; returns its exit code and what it wrote. */
async function runOf(body: string) {
  // Inside the package, so that vitest is found from there.
  const folder = mkdtempSync(join(ROOT, 'node_modules', '.red-run-'))
  const file = `import { expect, test } from 'vitest'
import { testServerUrl } from ${SERVER}
test('one', () => { ${body} })`
  writeFileSync(join(folder, 'one.test.mjs'), file)
  const experimental = '{ viteModuleRunner: false, nodeLoader: false }'
  const config = `export default { test: { globalSetup: ${SERVER}, experimental: ${experimental} } }\n`
  writeFileSync(join(folder, 'vitest.config.mjs'), config)

  const { REMIT_TEST_DATABASE_URL: _, ...env } = process.env
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs')
  const child = spawn(process.execPath, [vitest, 'run', '--root', folder], { env })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  rmSync(folder, { recursive: true, force: true })
  return { code, output }
}

test.skipIf(!isRun)(
  'a run with a failing test fails, also with the PostgreSQL of the tests',
  async () => {
    const { code, output } = await runOf(
      `expect(testServerUrl()).toMatch(/^postgres:/); expect(1).toBe(2)`,
    )

    expect(output).toContain('expected 1 to be 2')
    expect(code).toBe(1)
  },
)

test.skipIf(!isRun)('a run whose tests need no database starts no PostgreSQL', async () => {
  const { code, output } = await runOf(
    `expect(process.env.REMIT_TEST_DATABASE_URL).toBeUndefined()`,
  )

  expect(output).toContain('1 passed')
  expect(code).toBe(0)
})
