import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

test('a run with a failing test fails, also with the PostgreSQL of the tests', async () => {
  const core = resolve(import.meta.dirname, '..')
  // Inside the package, so that vitest is found from there.
  const folder = mkdtempSync(join(core, 'node_modules', '.red-run-'))
  const setup = join(core, 'src/testing/postgres-server.ts')
  const red = `import { expect, test } from 'vitest'\ntest('red', () => expect(1).toBe(2))\n`
  writeFileSync(join(folder, 'red.test.ts'), red)
  const config = `export default { test: { globalSetup: ${JSON.stringify(setup)} } }\n`
  writeFileSync(join(folder, 'vitest.config.mjs'), config)

  const { REMIT_TEST_DATABASE_URL: _, ...env } = process.env
  const vitest = join(core, 'node_modules/vitest/vitest.mjs')
  const child = spawn(process.execPath, [vitest, 'run', '--root', folder], { env, stdio: 'ignore' })
  const [code] = (await once(child, 'close')) as [number | null]

  rmSync(folder, { recursive: true, force: true })
  expect(code).toBe(1)
})
