import { execFile, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const run = promisify(execFile)
const folder = resolve(import.meta.dirname, '../../sdks/python')
const hasPython = spawnSync('python3', ['--version']).status === 0

const python = (args: readonly string[], env: Record<string, string> = {}) =>
  run('python3', args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], PYTHONPATH: 'src', PYTHONDONTWRITEBYTECODE: '1', ...env },
  })

// Without python3 these say that they are skipped.
describe.skipIf(!hasPython)('the gate in Python', () => {
  it('passes the vectors of the gate in TypeScript', async () => {
    const { stderr } = await python(['-m', 'unittest', 'discover', '-s', 'tests'])

    expect(stderr).toMatch(/^OK$/m)
  })

  describe.skipIf(!hasModules())('against a real server', () => {
    let server: RemitServer
    beforeAll(async () => {
      server = await startRemit()
      const { client } = server
      await client.createPolicy({ body: { effect: 'deny', actions: ['denied.*'] } })
      await client.setApprovalRule({ params: { id: 'held' }, body: { actions: ['held.*'] } })
    })
    afterAll(() => server.stop())

    it('runs at most once, settles, and fails closed', async () => {
      const env = { REMIT_URL: server.url, REMIT_KEY: server.org.key }
      const { stderr } = await python(['tests/live.py'], env)

      // Those of a framework are skipped where it is not installed.
      expect(stderr).toMatch(/^OK(?: \(skipped=[12]\))?$/m)
      expect(stderr).toMatch(/Ran 15 tests/)
    })
  })
})
