import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createGate } from '../gate.ts'
import { CannotRun } from './cannot-run.ts'
import { examine } from './examine.ts'
import type { Examination } from './finding.ts'
import { installedVersion, readProject } from './project.ts'
import { examinePython, pythonFrameworks } from './python.ts'
import { describe } from './report.ts'
import { reachServer } from './server.ts'

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
