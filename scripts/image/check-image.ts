import { readdir, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { makeImage } from './make-image.ts'
import type { MadeImage } from './make-image.ts'
import { run } from '../staging.ts'
import { USER } from './system-tree.ts'

/** Programs that would help an attacker in the container, and packages of the development. */
const UNWANTED =
  /^(usr\/)?s?bin\/(?!node$)|(^|\/)node_modules\/(vitest|typescript|rolldown|vite|oxlint)$/

export interface ImageCheck {
  readonly edition: 'community' | 'enterprise'
  /** Another built workspace of the same sources, whose image must have the same digest. */
  readonly copy?: string
  /** Further checks of the files of the image. */
  readonly inspect?: (root: string) => Promise<void>
}

/**
 * Makes the image of a built workspace and starts it. Throws if that of a copy differs, if it contains
 * what it must not, or if the server does not work with a read-only root as another user.
 */
export async function checkImage(
  workspace: string,
  out: string,
  { edition, copy, inspect }: ImageCheck,
): Promise<MadeImage> {
  const image = await makeImage(workspace, join(out, 'first'))
  if (copy !== undefined) {
    const again = await makeImage(copy, join(out, 'second'))
    if (image.digest !== again.digest)
      throw new Error(`two images of the same sources differ: ${image.digest}, ${again.digest}`)
  }
  const missing = missingTools()
  if (missing.length > 0) {
    console.log(`skipped: the image is not started without ${missing.join(' and ')}`)
    return image
  }
  const settings = edition === 'community' ? {} : { REMIT_EVALUATION: '1' }
  const report = await bootImage(join(out, 'first'), image, settings, async (root) => {
    const names = await readdir(root, { recursive: true })
    const unwanted = names.filter((name) => UNWANTED.test(name))
    if (unwanted.length > 0) throw new Error(`unwanted in the image:\n  ${unwanted.join('\n  ')}`)
    await inspect?.(root)
  })
  const expected = { uid: 65_532, ready: 200, console: 200, write: 'EROFS', exitCode: 0 }
  const wrong = Object.entries(expected).filter(
    ([name, value]) => report[name as keyof typeof expected] !== value,
  )
  if (wrong.length > 0 || report.health.edition !== edition)
    throw new Error(`the image does not work: ${JSON.stringify(report)}`)
  return image
}

const TOOLS = ['umoci', 'bwrap']

/** Returns the tools that a boot of an image needs and this machine lacks. */
const missingTools = (): string[] =>
  TOOLS.filter((tool) => spawnSync(tool, ['--version']).error !== undefined)

/** Answers of the server in the image to the requests of the probe. */
interface BootReport {
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
async function bootImage(
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
