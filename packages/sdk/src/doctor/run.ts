import { parseJson, spellOut } from '@remit/contract/fit'
import { statSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, resolve, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { execFile } from 'node:child_process'
import { createClient, RemitError } from '@remit/contract/client'
import type { Client } from '@remit/contract/client'
import { createGate } from '../gate.ts'
import { examine } from './examine.ts'
import type { Finding, Enforcement } from './examine.ts'
import { CannotRun, installedVersion, readProject } from './project.ts'
import { SELF_TEST_ACTIONS } from '../mapping.ts'

const USAGE = `usage: remit-sdk doctor [FOLDER] [options]

Tests whether a denied tool call is blocked in each agent framework that the project in FOLDER uses.
FOLDER has a package.json or Python requirements; the current folder unless given.

  --url URL     the server; REMIT_URL, or http://localhost:8080, unless given
  --agent ID    the agent that the self-tests are recorded for
  --json        print the result as one line of JSON
  --help

REMIT_KEY has the ingest key or the agent's credential.

exit codes: 0 all are enforced; 1 one is not enforced; 2 one was not tested, or the test could not run
`

/** Exit codes of `remit-sdk doctor`. */
const EXIT = { enforced: 0, notEnforced: 1, couldNotRun: 2 } as const

export interface Io {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** Runs one command line and returns the exit code. Never throws. */
export async function run(args: readonly string[], io: Io): Promise<number> {
  try {
    const options = readArguments(args, io.env)
    if (options === null) {
      io.stdout.write(USAGE)
      return EXIT.enforced
    }
    const examination = await examineFolder(options, io.env)
    io.stdout.write(options.json ? `${JSON.stringify(examination)}\n` : describe(examination))
    return exitCodeOf(examination)
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    io.stderr.write(
      args.includes('--json')
        ? `${JSON.stringify({ error: { message, exit_code: EXIT.couldNotRun } })}\n`
        : `remit-sdk: ${message}\n`,
    )
    return EXIT.couldNotRun
  }
}

interface Options {
  readonly folder: string
  readonly url: string
  readonly key: string
  readonly agentId: string | undefined
  readonly json: boolean
}

/** Parses a command line; null for `--help`. */
function readArguments(args: readonly string[], env: Io['env']): Options | null {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      url: { type: 'string' },
      agent: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return null
  const [command, folder = '.', ...more] = positionals
  if (command !== 'doctor' || more.length > 0)
    throw new CannotRun('expected `remit-sdk doctor [FOLDER]`; see --help')
  const key = env['REMIT_KEY']
  if (key === undefined || key === '')
    throw new CannotRun('REMIT_KEY is not set; it needs an ingest key or a credential')
  // A credential names its agent.
  const own = key.startsWith('rmk_') ? 'remit-doctor' : undefined
  return {
    folder: resolve(folder),
    url: values.url ?? env['REMIT_URL'] ?? 'http://localhost:8080',
    key,
    agentId: values.agent ?? own,
    json: values.json,
  }
}

async function examineFolder(
  { folder, url, key, agentId }: Options,
  env: Io['env'],
): Promise<Examination> {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
    throw new CannotRun(`${folder} is not a folder`)
  const project = readProject(folder)
  const python = pythonFrameworks(folder)
  if (!project && python.length === 0)
    throw new CannotRun(
      `${folder} has no package.json, and no Python requirements name a framework`,
    )
  const client = await reachServer(url, key, agentId)
  const gate = createGate({ client, ...(agentId !== undefined && { agentId }) })
  const here = dirname(fileURLToPath(import.meta.url))
  const loaded = (name: string) => installedVersion(here, name)
  const none = { findings: [], unused: [] }
  const args = ['--url', url, ...(agentId === undefined ? [] : ['--agent', agentId])]
  const parts = [
    project ? await examine(gate, { project, loaded }) : none,
    python.length > 0 ? await examinePython(folder, python, args, env) : none,
  ]
  const findings = parts.flatMap((part) => part.findings)
  if (findings.length === 0)
    throw new CannotRun(`no file in ${folder} imports @remit/sdk or a framework that it can govern`)
  return { server: url, folder, findings, unused: parts.flatMap((part) => part.unused) }
}

function exitCodeOf({ findings }: Examination): number {
  if (findings.some(({ enforcement }) => enforcement === 'not_enforced')) return EXIT.notEnforced
  if (findings.some(({ enforcement }) => enforcement === 'not_tested')) return EXIT.couldNotRun
  return EXIT.enforced
}

/** A client of a server that answers self-tests. Throws `CannotRun` with the reason where none does. */
async function reachServer(url: string, key: string, agentId: string | undefined): Promise<Client> {
  const client = clientOf(url, key)
  const action = `${SELF_TEST_ACTIONS}deny`
  const body = { action, ...(agentId !== undefined && { agent_id: agentId }) }
  try {
    const { decision, reason } = await client.authorize({ body, timeoutMs: 10_000 })
    if (decision !== 'deny' || reason !== 'self_test')
      throw new CannotRun(`the server at ${url} knows no self-tests; it needs Remit 0.1 or newer`)
    return client
  } catch (error) {
    throw error instanceof RemitError ? new CannotRun(explained(url, error)) : error
  }
}

function clientOf(url: string, key: string): Client {
  try {
    return createClient({ baseUrl: url, key })
  } catch (error) {
    throw new CannotRun(`--url: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function explained(url: string, { code, status, problem, message }: RemitError): string {
  const reason = problem?.detail ?? message
  if (status === 0) return `no server answers at ${url} (${code}); set --url or REMIT_URL`
  if (status === 401) return `the server at ${url} refuses the key in REMIT_KEY: ${reason}`
  if (status === 404)
    return `the server at ${url} has no decisions: it is no Remit, or the community edition`
  return `the server at ${url} refuses the self-test: ${reason}`
}

const MANIFESTS = /^(?:requirements.*\.(?:txt|in)|pyproject\.toml|setup\.(?:py|cfg)|Pipfile)$/
const FRAMEWORKS = { langchain: 'LangChain', 'openai-agents': 'OpenAI Agents' } as const
const MAX_MS = 300_000

type Env = Readonly<Record<string, string | undefined>>
type Name = keyof typeof FRAMEWORKS

function pythonFrameworks(folder: string): Name[] {
  const texts = readdirSync(folder)
    .filter((name) => MANIFESTS.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  return (Object.keys(FRAMEWORKS) as Name[]).filter((name) =>
    texts.some((text) => new RegExp(`^[^#\\n]*(?<![\\w.-])${name}(?![\\w.-])`, 'im').test(text)),
  )
}

/** Lets `remit`, the Python package, run its own self-tests in the environment of the project. */
async function examinePython(
  folder: string,
  names: readonly Name[],
  args: readonly string[],
  env: Env,
): Promise<Pick<Examination, 'findings' | 'unused'>> {
  const python = interpreterOf(folder, env)
  const command = ['-m', 'remit', 'doctor', '--json', ...args]
  const { stdout, stderr } = await output(python, command, folder, env)
  const examination = parseJson(stdout) as Examination | null | undefined
  if (examination) return examination
  const reason = reasonIn(stderr)
  const isMissing = /No module named '?remit\b/.test(reason)
  const detail = isMissing ? `${python} has no package remit` : `${python}: ${reason}`
  const findings = names.map((name): Finding => ({
    framework: FRAMEWORKS[name],
    language: 'python',
    package: name,
    version: null,
    adapter: `remit.${name.replaceAll('-', '_')}`,
    enforcement: isMissing ? 'not_enforced' : 'not_tested',
    detail,
    cases: [],
  }))
  return { findings, unused: [] }
}

function interpreterOf(folder: string, { VIRTUAL_ENV: active }: Env): string {
  const environments = [
    ...(active === undefined ? [] : [active]),
    join(folder, '.venv'),
    join(folder, 'venv'),
  ]
  return (
    environments.map((path) => join(path, 'bin/python')).find((path) => existsSync(path)) ??
    'python3'
  )
}

/** The message of the Python package, else the last line of the interpreter. */
function reasonIn(stderr: string): string {
  const [last = ''] = stderr.trim().split('\n').slice(-1)
  const read = parseJson(last) as { error?: { message?: string } } | null | undefined
  return read?.error?.message ?? last
}

const output = (program: string, args: readonly string[], cwd: string, env: Env) =>
  new Promise<{ stdout: string; stderr: string }>((settle) => {
    execFile(program, args, { cwd, env, timeout: MAX_MS }, (error, stdout, stderr) =>
      settle({ stdout, stderr: stderr || (error?.message ?? '') }),
    )
  })

export interface Examination {
  readonly server: string
  readonly folder: string
  readonly findings: readonly Finding[]
  /** Frameworks that are declared, but that no source imports. */
  readonly unused: readonly string[]
}

const WORDS: Readonly<Record<Enforcement, string>> = {
  enforced: 'enforced',
  enforced_while_the_hook_runs: 'enforced while the hook runs',
  not_enforced: 'not enforced',
  not_tested: 'not tested',
}

export function describe({ server, folder, findings, unused }: Examination): string {
  const titles = findings.map(titleOf)
  const width = Math.max(0, ...titles.map((title) => title.length))
  const lines = findings.flatMap(({ enforcement, detail }, index) => [
    `${(titles[index] ?? '').padEnd(width)}  ${WORDS[enforcement]}`,
    ...(detail === '' ? [] : [`  ${detail}`]),
  ])
  const rest = unused.length === 0 ? [] : ['', `imported by no file: ${unused.join(', ')}`]
  return (
    [`${folder}, with the server at ${server}`, '', ...lines, ...rest, '']
      // Texts of frameworks must not steer the terminal.
      .map((line) => spellOut(line, { keep: '\n' }))
      .join('\n')
  )
}

const titleOf = ({ framework, package: name, version }: Finding): string =>
  `${framework} (${name}${version === null ? '' : ` ${version}`})`
