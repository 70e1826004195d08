import { execFile, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { inFullRun, runs } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { FAULTS, startFaultyProxy } from './support/faults.ts'
import { pythons } from './support/python-hosts.ts'
import { createPythonRules } from './support/python.ts'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const isRun = inFullRun('the gate in Python against a server') && hasModules()

const run = promisify(execFile)
const folder = resolve(import.meta.dirname, '../../sdks/python')
const hasPython = spawnSync('python3', ['--version']).status === 0

const python = (
  args: readonly string[],
  env: Record<string, string> = {},
  command: string = 'python3',
) =>
  run(command, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], PYTHONPATH: 'src', PYTHONDONTWRITEBYTECODE: '1', ...env },
  })

// Without python3 these say that they are skipped.
describe.skipIf(!hasPython)('the gate in Python', () => {
  it.each(pythons())('passes the vectors of the gate in TypeScript with %s', async (command) => {
    const { stderr } = await python(['-m', 'unittest', 'discover', '-s', 'tests'], {}, command)

    expect(stderr).toMatch(/^OK$/m)
  })

  describe.skipIf(!isRun)('against a real server', () => {
    let server: RemitServer
    beforeAll(async () => {
      server = await startRemit()
      await createPythonRules(server.client)
    })
    afterAll(() => server.stop())

    it('runs at most once, settles, and fails closed', async () => {
      const env = { REMIT_URL: server.url, REMIT_KEY: server.org.key }
      const { stderr } = await python(['tests/live.py'], env)

      // Those of a framework are skipped where it is not installed.
      expect(stderr).toMatch(/^OK(?: \(skipped=[12]\))?$/m)
      expect(stderr).toMatch(/Ran 15 tests/)
    })

    it('runs what was decided, and settles how it ended', async () => {
      const env = { REMIT_URL: server.url, REMIT_KEY: server.org.key }
      const { stderr } = await python(['tests/live_decided.py'], env)

      expect(stderr).toMatch(/^OK(?: \(skipped=[1-8]\))?$/m)
      expect(stderr).toMatch(/Ran 19 tests/)
    })

    it('runs nothing without an allow behind a faulty proxy, and holds once for a call', async () => {
      const calls = runs(1_000, 100)
      await server.client.setSpendLimit({
        params: { id: 'py-faults' },
        body: { daily_usd: 1_000_000 },
      })
      const proxy = await startFaultyProxy(server.url)
      const quick = FAULTS.filter((fault) => fault !== 'hang' && fault !== 'drip')
      proxy.next = () =>
        (Math.random() < 0.4 && quick[Math.floor(Math.random() * quick.length)]) || 'pass'

      const env = { REMIT_URL: proxy.url, REMIT_KEY: server.org.key }
      const { stdout } = await python(['tests/faulty.py', String(calls)], env)
      await proxy.stop()
      const { used, wrongly } = JSON.parse(stdout) as { used: string[]; wrongly: number[] }
      const { data } = await server.client.listEntries({
        query: {
          agent_id: 'py-faults',
          kind: 'authorization.decided',
          decision: 'allow',
          limit: 1000,
        },
      })
      const allowed = new Set(data.map((entry) => entry.data?.['decision_id']))

      expect(wrongly).toEqual([])
      expect(new Set(used).size).toBe(used.length)
      expect(used.filter((id) => !allowed.has(id))).toEqual([])
      // One decision for a call, however often it was asked for.
      expect(allowed.size).toBeLessThanOrEqual((calls * 3) / 4)
      expect(used.length).toBeGreaterThan(calls / 4)
    })
  })
})
