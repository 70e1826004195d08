import { execFile, spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { inFullRun, isCompleteRun } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const isRun = inFullRun('the gate in Go against a server') && hasModules()

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const SDK = 'sdks/go'
const EXAMPLES = [
  {
    folder: 'examples/go/http-service',
    tests: ['TestLivePaysOnceAfterTheVote', 'TestPaysNothingWhileRemitIsAway'],
  },
  {
    folder: 'examples/go/langchaingo',
    tests: ['TestLivePays', 'TestLiveTellsTheModelWhyItDidNotRun', 'TestLiveTheExecutorObeys'],
  },
]
const STATICCHECK = 'honnef.co/go/tools/cmd/staticcheck@v0.8.2'

/** With GOTOOLCHAIN=local an older Go is refused, and loads no newer one. */
const offline = { ...process.env, GOTOOLCHAIN: 'local' }
const hasGo =
  spawnSync('go', ['list', './...'], { cwd: resolve(root, SDK), env: offline }).status === 0
if (!hasGo) console.info('the gate in Go is skipped: there is no Go 1.24')
const hasCompiler = spawnSync('gcc', ['--version']).status === 0
// A machine without compiled Go packages needs a minute each for the standard library with the race detector,
// for staticcheck, and for langchaingo.
if (hasGo && isRun && !isCompleteRun)
  console.info('the race detector, staticcheck and langchaingo need REMIT_TEST_RUNS=complete')
if (hasGo && !hasCompiler) console.info('the race detector of Go is skipped: there is no gcc')

/** Without the C libraries of Go, which the race detector alone needs: they take long to compile. */
const go = (folder: string, args: readonly string[], env: Record<string, string> = {}) =>
  run('go', args, {
    cwd: resolve(root, folder),
    env: { ...offline, CGO_ENABLED: args.includes('-race') ? '1' : '0', ...env },
  })

/** The names of the tests that passed. A test that fails or is skipped is an error. */
async function passed(folder: string, args: readonly string[], env: Record<string, string> = {}) {
  const { stdout } = await go(folder, ['test', '-count=1', '-v', ...args, './...'], env)
  expect(stdout).not.toMatch(/^\s*--- (?:FAIL|SKIP)/m)
  return [...stdout.matchAll(/^--- PASS: (\S+)/gm)].map(([, name]) => name)
}

// Without Go these say that they are skipped.
describe.skipIf(!hasGo)('the gate in Go', () => {
  it('passes the vectors of the gate in TypeScript, without a dependency', async () => {
    const names = await passed(SDK, ['-run', '^(?:Test[^L]|Example)'])
    const { stdout } = await go(SDK, [
      'list',
      '-deps',
      '-f',
      '{{if not .Standard}}{{.Module}}{{end}}',
      './...',
    ])

    expect(names).toContain('TestVectors')
    expect(names).toContain('Example')
    expect(stdout.trim()).toBe('github.com/remit-dev/remit/sdks/go')
  })

  describe.skipIf(!isRun)('against a real server', () => {
    let server: RemitServer
    beforeAll(async () => {
      server = await startRemit()
      const { client } = server
      await client.createPolicy({ body: { effect: 'deny', actions: ['denied.*'] } })
      await client.setApprovalRule({
        params: { id: 'held' },
        body: { actions: ['held.*', 'payments.refund'] },
      })
      const condition = 'has(context.args.usd) && context.args.usd > 1000.0'
      await client.createPolicy({ body: { effect: 'deny', actions: ['order'], condition } })
    })
    afterAll(() => server.stop())

    const env = () => ({ REMIT_URL: server.url, REMIT_KEY: server.org.key })

    it('runs at most once, settles, and fails closed', async () => {
      const names = await passed(
        SDK,
        [...(hasCompiler && isCompleteRun ? ['-race'] : []), '-run', '^TestLive'],
        env(),
      )

      expect(names).toHaveLength(14)
    })

    it.for(isCompleteRun ? EXAMPLES : EXAMPLES.slice(0, 1))(
      'blocks in $folder',
      async ({ folder, tests }, { skip }) => {
        await go(folder, ['mod', 'download']).catch(() => skip(`no modules for ${folder}`))

        expect(await passed(folder, [], env())).toEqual(tests)
      },
    )

    it('is formatted, and vet finds nothing', async () => {
      const { stdout } = await run('gofmt', ['-l', SDK, 'examples/go'], { cwd: root })

      expect(stdout).toBe('')
      await go(SDK, ['vet', './...'])
    })

    it.runIf(isCompleteRun)('has no finding of staticcheck', async ({ skip }) => {
      await go(SDK, ['run', STATICCHECK, '-version']).catch(() =>
        skip('no staticcheck for this Go'),
      )
      const { stdout } = await go(SDK, ['run', STATICCHECK, './...'])

      expect(stdout).toBe('')
    })
  })
})
