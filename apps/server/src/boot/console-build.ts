import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { setPriority } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const CONSOLE = fileURLToPath(new URL('../../../console', import.meta.url))

/** Inputs of the build, from the folder of the console. */
const SOURCES = [
  'src',
  'index.html',
  'vite.config.ts',
  'package.json',
  '../../packages/contract/src',
]

const LOW_PRIORITY = 10
/** Of the output of a failed build. */
const SHOWN = 2_000

/**
 * Builds the files of the console if they are missing or older than their sources, beside a server
 * that already answers. `say` receives a line at the start and at the end.
 */
export async function buildConsole(
  say: (line: string) => void,
  folder: string = CONSOLE,
): Promise<void> {
  if (!existsSync(join(folder, 'package.json')) || !(await isStale(folder))) return
  say('building the console; /console appears when it is ready, in about half a minute')
  const child = spawn(process.execPath, ['--run', 'build'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // Requests come first.
  if (child.pid !== undefined) setPriority(child.pid, LOW_PRIORITY)
  const stop = () => void child.kill()
  process.once('exit', stop)
  let output = ''
  const keep = (chunk: Buffer) => {
    output = (output + chunk.toString()).slice(-SHOWN)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  const [code] = (await once(child, 'close')) as [number | null]
  process.off('exit', stop)
  say(code === 0 ? 'the console is ready' : `building the console failed:\n${output.trim()}`)
}

/** Returns true if a source is newer than the shell, which a build writes last. */
export async function isStale(folder: string): Promise<boolean> {
  const shell = await stat(join(folder, 'dist/index.html')).catch(() => null)
  if (!shell) return true
  for (const source of SOURCES)
    if ((await newest(join(folder, source))) > shell.mtimeMs) return true
  return false
}

/** Returns the time of the last change of a file, or of the files in a folder; 0 if there is none. */
async function newest(path: string): Promise<number> {
  const found = await stat(path).catch(() => null)
  if (!found?.isDirectory()) return found?.mtimeMs ?? 0
  const names = await readdir(path, { recursive: true })
  const times = await Promise.all(
    names.map(async (name) => (await stat(join(path, name)).catch(() => null))?.mtimeMs ?? 0),
  )
  return Math.max(0, ...times)
}
