/**
 * Test tools of others against Remit, nightly: `node --conditions=@remit/source scripts/peers.ts [install <name>…]`.
 *
 * Installs LiteLLM, for `examples/test/litellm.test.ts`, and Schemathesis, each into an environment of its own below
 * `node_modules/.cache/peers`; then Schemathesis calls each operation of `openapi.json` on a real server with valid
 * and invalid inputs. Exits with 1 if one of its checks fails. Needs Python 3.10 to 3.13 with `venv`.
 *
 * `--seconds N` (900) of Schemathesis at most; `--seed N`.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startRemit } from '../examples/test/support/server.ts'

const root = resolve(import.meta.dirname, '..')
const folder = join(root, 'node_modules/.cache/peers')

/** The requirements of each environment. The oldest LiteLLM is the first that can hold back a stream. */
const ENVIRONMENTS: Readonly<Record<string, readonly string[]>> = {
  'litellm-oldest': ['litellm[proxy]==1.108.0'],
  'litellm-newest': ['litellm[proxy]'],
  schemathesis: ['schemathesis>=4,<5'],
}

function run(command: string, args: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', cwd: root })
  if (status !== 0) throw new Error(`${command} ended with ${status ?? error?.message}`)
}

function install(name: string): void {
  const requirements = ENVIRONMENTS[name]
  if (requirements === undefined)
    throw new Error(`${name}: must be one of ${Object.keys(ENVIRONMENTS).join(', ')}`)
  const environment = join(folder, name)
  const installed = join(environment, 'installed')
  if (existsSync(installed)) return
  mkdirSync(folder, { recursive: true })
  run('python3', ['-m', 'venv', '--clear', environment])
  run(join(environment, 'bin/pip'), ['install', '--quiet', 'uv'])
  const python = ['--python', join(environment, 'bin/python')]
  run(join(environment, 'bin/uv'), ['pip', 'install', '--quiet', ...python, ...requirements])
  writeFileSync(installed, '')
}

interface Operation {
  readonly parameters?: readonly { readonly name?: string }[]
}

/** Runs Schemathesis against a server of its own. */
async function fuzz(seconds: string, seed: string | undefined): Promise<boolean> {
  const text = readFileSync(join(root, 'openapi.json'), 'utf8')
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Operation>> }
  // They answer what is wrong with a body instead of refusing it.
  const lenient = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { parameters = [] }]) => parameters.some(({ name }) => name === 'validate'))
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  )
  const config = join(folder, 'schemathesis.toml')
  writeFileSync(
    config,
    `[[operations]]
include-name = ${JSON.stringify(lenient)}
checks.negative_data_rejection.enabled = false
`,
  )
  const server = await startRemit({ failedKeyLimit: 0 })
  const args = [
    '--config-file',
    config,
    'run',
    join(root, 'openapi.json'),
    `--url=${server.url}`,
    `--header=Authorization: Bearer ${server.org.key}`,
    // Of two keys, the server accepts neither.
    '--generation-with-security-parameters=false',
    // Rules go further than a schema can: unique names, texts in NFC, conditions that compile.
    '--exclude-checks=positive_data_acceptance',
    `--max-time=${seconds}`,
    '--continue-on-failure',
    // A hook may wait that long for an approval.
    '--request-timeout=130',
    '--workers=1',
    ...(seed === undefined ? [] : [`--seed=${seed}`]),
  ]
  const child = spawn(join(folder, 'schemathesis/bin/st'), args, { stdio: 'inherit', cwd: folder })
  const [code] = (await once(child, 'close')) as [number | null]
  await server.stop()
  return code === 0
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string', default: '900' }, seed: { type: 'string' } },
})
const [verb, ...names] = positionals
if (verb !== undefined && verb !== 'install') throw new Error(`${verb}: must be install`)
for (const name of names.length > 0 ? names : Object.keys(ENVIRONMENTS)) install(name)
if (verb === undefined && !(await fuzz(values.seconds, values.seed))) process.exitCode = 1
