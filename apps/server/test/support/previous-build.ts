import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readlinkSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { bundleCommandLine } from './bundle.ts'

const ROOT = resolve(import.meta.dirname, '../../../..')

/** A line that adds a migration; the files contain others too. */
const MIGRATION = "^  '[0-9]{4}_"

/** Files in which the last added migration marks the end of the build before. */
const MIGRATIONS = [
  'packages/core/src/db/core-migrations.ts',
  'packages/governance-enterprise/src/tables/schema.ts',
  'packages/identity/src/tables/schema.ts',
  'packages/compliance/src/tables/schema.ts',
]

const git = (...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'safe.directory=*', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

/**
 * Returns the commit of the newest release, or, before there is a tag, the last one that has fewer
 * migrations. Null without the history.
 */
export function previousCommit(): string | null {
  try {
    const [tag] = git('tag', '--list', 'v*', '--merged=HEAD', '--sort=-v:refname').split('\n')
    if (tag) return tag
    const newest = git('log', '-1', '--format=%H', `-G${MIGRATION}`, '--', ...MIGRATIONS)
    return git('rev-parse', '--verify', '--quiet', `${newest}^`)
  } catch {
    process.stderr.write('skipped: the upgrade test needs the history of the repository\n')
    return null
  }
}

/**
 * Writes the sources of a commit to an empty folder, and bundles its program. They use the installed
 * libraries, and each other. Returns the program.
 */
export function checkOut(commit: string, folder: string): Promise<string> {
  const archive = execFileSync('git', ['-c', 'safe.directory=*', 'archive', commit], {
    cwd: ROOT,
    maxBuffer: 1 << 28,
  })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  for (const room of ['packages', 'apps'])
    for (const name of readdirSync(join(folder, room))) link(join(room, name), folder)
  return bundleCommandLine(folder)
}

/** Links the libraries of one package to the installed ones; its own siblings are in `folder`. */
function link(place: string, folder: string): void {
  const installed = join(ROOT, place, 'node_modules')
  if (!existsSync(installed)) return
  const target = join(folder, place, 'node_modules')
  for (const name of readdirSync(installed)) {
    if (name.startsWith('.')) continue
    if (!name.startsWith('@')) symlinkTo(join(installed, name), join(target, name))
    else
      for (const scoped of readdirSync(join(installed, name))) {
        const path = join(installed, name, scoped)
        const isOurs = name === '@remit'
        symlinkTo(
          isOurs ? resolve(join(folder, place, 'node_modules', name), readlinkSync(path)) : path,
          join(target, name, scoped),
        )
      }
  }
}

function symlinkTo(path: string, at: string): void {
  mkdirSync(join(at, '..'), { recursive: true })
  symlinkSync(path, at)
}
