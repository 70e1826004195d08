import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Examination, Finding } from './finding.ts'

const MANIFESTS = /^(?:requirements.*\.(?:txt|in)|pyproject\.toml|setup\.(?:py|cfg)|Pipfile)$/
const FRAMEWORKS = { langchain: 'LangChain', 'openai-agents': 'OpenAI Agents' } as const
const MAX_MS = 300_000

type Env = Readonly<Record<string, string | undefined>>
type Name = keyof typeof FRAMEWORKS

/** The frameworks that the requirements of a folder name. */
export function pythonFrameworks(folder: string): Name[] {
  const texts = readdirSync(folder)
    .filter((name) => MANIFESTS.test(name))
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  return (Object.keys(FRAMEWORKS) as Name[]).filter((name) =>
    texts.some((text) => new RegExp(`^[^#\\n]*(?<![\\w.-])${name}(?![\\w.-])`, 'im').test(text)),
  )
}

/** Lets `remit`, the Python package, run its own self-tests in the environment of the project. */
export async function examinePython(
  folder: string,
  names: readonly Name[],
  args: readonly string[],
  env: Env,
): Promise<Pick<Examination, 'findings' | 'unused'>> {
  const python = interpreterOf(folder, env)
  const command = ['-m', 'remit', 'doctor', '--json', ...args]
  const { stdout, stderr } = await output(python, command, folder, env)
  const examination = read(stdout)
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
  try {
    return (JSON.parse(last) as { error: { message: string } }).error.message
  } catch {
    return last
  }
}

function read(text: string): Examination | null {
  try {
    return JSON.parse(text) as Examination
  } catch {
    return null
  }
}

const output = (program: string, args: readonly string[], cwd: string, env: Env) =>
  new Promise<{ stdout: string; stderr: string }>((resolve) => {
    execFile(program, args, { cwd, env, timeout: MAX_MS }, (error, stdout, stderr) =>
      resolve({ stdout, stderr: stderr || (error?.message ?? '') }),
    )
  })
