import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../staging.ts'
import type { MadeImage } from './make-image.ts'
import { USER } from './system-tree.ts'

const TOOLS = ['umoci', 'bwrap']

/** Returns the tools that a boot of an image needs and this machine lacks. */
export const missingTools = (): string[] =>
  TOOLS.filter((tool) => spawnSync(tool, ['--version']).error !== undefined)

/** Answers of the server in the image to the requests of the probe. */
export interface BootReport {
  readonly uid: number
  readonly health: { readonly edition: string; readonly version: string }
  readonly ready: number
  readonly console: number
  /** Code of the error of a write outside `/data` and `/tmp`. */
  readonly write: string
  readonly exitCode: number
}

/** Runs in the sandbox, beside the server: there is no network but its own loopback. */
const PROBE = `
const [command, ...args] = JSON.parse(process.argv[1])
const server = require('node:child_process').spawn(command, [...args, '--json'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
let said = ''
server.stdout.on('data', async (chunk) => {
  said += chunk
  if (!said.includes('\\n')) return
  const url = 'http://127.0.0.1:' + new URL(JSON.parse(said).url).port
  const status = async (path) => (await fetch(url + path)).status
  let write = 'none'
  try { require('node:fs').writeFileSync('/opt/remit/server/x', '') } catch (error) { write = error.code }
  const report = {
    uid: process.getuid(), write, health: await (await fetch(url + '/health')).json(),
    ready: await status('/ready'), console: await status('/console'),
  }
  server.once('exit', (exitCode) => console.log(JSON.stringify({ ...report, exitCode })))
  server.kill('SIGTERM')
})
`

/**
 * Unpacks an image, runs its command with a read-only root, as its user and without a network, and
 * returns what a client sees. `inspect` gets the folder of the unpacked root.
 */
export async function bootImage(
  out: string,
  { tag }: MadeImage,
  settings: Readonly<Record<string, string>>,
  inspect: (root: string) => Promise<void>,
): Promise<BootReport> {
  const work = await mkdtemp(join(tmpdir(), 'remit-boot-'))
  try {
    const root = join(work, 'root')
    const config = join(work, 'config.json')
    const from = ['--image', `${join(out, 'image')}:${tag}`]
    // `umoci unpack` would compute the hashes of all files too, for a later change of the image.
    await run('umoci', ['raw', 'unpack', ...from, root], work)
    await run('umoci', ['raw', 'runtime-config', ...from, '--rootfs', root, config], work)
    const { process: command } = JSON.parse(await readFile(config, 'utf8')) as {
      process: { args: string[]; env: string[] }
    }
    await inspect(root)
    const data = join(work, 'data')
    await mkdir(data)
    const env = [...command.env, ...Object.entries(settings).map(([k, v]) => `${k}=${v}`)]
    const sandbox = ['--unshare-all', '--die-with-parent', '--clearenv', '--chdir', '/data']
    const user = ['--uid', String(USER), '--gid', String(USER)]
    const mounts = ['--ro-bind', root, '/', '--tmpfs', '/tmp', '--bind', data, '/data']
    const system = ['--proc', '/proc', '--dev', '/dev']
    const environment = env.flatMap((line) => {
      const at = line.indexOf('=')
      return ['--setenv', line.slice(0, at), line.slice(at + 1)]
    })
    const options = [...sandbox, ...user, ...mounts, ...system, ...environment]
    const probe = ['/usr/bin/node', '-e', PROBE, JSON.stringify(command.args)]
    const said = await run('bwrap', [...options, ...probe], work)
    return JSON.parse(said.trim().split('\n').at(-1) ?? '') as BootReport
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}
