import { readdir, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { makeImage } from './make-image.ts'
import type { MadeImage } from './make-image.ts'
import { run } from '../staging.ts'
import { HOME } from './server-tree.ts'
import { USER } from './system-tree.ts'

/**
 * Programs that would help an attacker in the container, packages of the development, and kinds of files that no
 * running server reads.
 */
const UNWANTED = [
  /^(usr\/)?s?bin\/(?!node$)/,
  /(^|\/)node_modules\/(@types|vitest|typescript|rolldown|vite|oxlint)$/,
  /^opt\/.+(\.ts|\.cts|\.mts|\.map|\.flow|\.md|\.test\.js|\/\.[^/]+)$/,
  /^opt\/.+\/node_modules\/(@[^/]+\/)?[^/]+\/(tests?|__tests__|benchmarks?|examples)$/,
]

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
  const isCommunity = edition === 'community'
  const settings = {
    REMIT_BOOTSTRAP_ORG: 'probe',
    ...(!isCommunity && { REMIT_EVALUATION: '1' }),
  }
  const report = await bootImage(join(out, 'first'), image, settings, async (root) => {
    const names = await readdir(root, { recursive: true })
    const unwanted = names.filter((name) => UNWANTED.some((one) => one.test(name)))
    if (unwanted.length > 0) throw new Error(`unwanted in the image:\n  ${unwanted.join('\n  ')}`)
    await inspect?.(root)
  })
  const expected = {
    uid: 65_532,
    ready: 200,
    console: 200,
    reference: 200,
    guard: 200,
    decision: isCommunity ? 404 : 200,
    report: isCommunity ? 404 : 'ready',
    missing: '',
    write: 'EROFS',
    exitCode: 0,
  }
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
  readonly reference: number
  readonly guard: number
  readonly decision: number
  /** State of a report, or status of its refusal. */
  readonly report: string | number
  /** Packages that the code of the server names and cannot import. */
  readonly missing: string
  /** Code of the error of a write outside `/data` and `/tmp`. */
  readonly write: string
  readonly exitCode: number
}

/** Runs in the sandbox, beside the server: there is no network but its own loopback. */
const PROBE = `
const { readdirSync, readFileSync, writeFileSync } = require('node:fs')
const [command, ...args] = JSON.parse(process.argv[1])
const server = require('node:child_process').spawn(command, [...args, '--json'], {
  cwd: '/data', stdio: ['ignore', 'pipe', 'inherit'],
})
/** Errors of the imports of every package that the code names; it loads some of them late. */
async function missing() {
  const code = ['dist', 'node_modules/@remit'].flatMap((folder) =>
    readdirSync(folder, { recursive: true }).map((name) => folder + '/' + name))
  const named = code.filter((path) => path.endsWith('.js')).flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(/(?<![.\\w])(?:from|import) ?[(]?'([@a-z][\\w./@-]*)'/g)])
  const names = [...new Set(named.map(([, name]) => name))]
  if (names.length < 40) throw new Error('the code imports too little: ' + names)
  const tries = await Promise.allSettled(names.map((name) => import(name)))
  return tries.flatMap(({ reason }) => reason ? [reason.message] : []).join('; ')
}
let said = ''
server.stdout.on('data', async (chunk) => {
  said += chunk
  if (!said.includes('\\n')) return
  const { url: address, first } = JSON.parse(said)
  const url = 'http://127.0.0.1:' + new URL(address).port
  const ask = (path, body) => fetch(url + path, {
    headers: { authorization: 'Bearer ' + first.secret, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  const status = async (path, body) => (await ask(path, body)).status
  /** Waits for a report that takes longer than a request. */
  const report = async () => {
    const made = await ask('/v1/compliance/reports', { framework: 'soc2' })
    if (!made.ok) return made.status
    const { id } = await made.json()
    for (;;) {
      const { status } = await (await ask('/v1/compliance/reports/' + id)).json()
      if (status !== 'generating') return status
      await new Promise((done) => setTimeout(done, 100))
    }
  }
  let write = 'none'
  try { writeFileSync('/opt/remit/server/x', '') } catch (error) { write = error.code }
  const answers = {
    uid: process.getuid(), write, health: await (await fetch(url + '/health')).json(),
    ready: await status('/ready'), console: await status('/console'),
    reference: await status('/docs/openapi-explorer.js'),
    guard: await status('/v1/guard', { content: 'The meeting is at ten.' }),
    decision: await status('/v1/authorize', { agent_id: 'a', action: 'read' }),
    report: await report(),
    missing: await missing(),
  }
  server.once('exit', (exitCode) => console.log(JSON.stringify({ ...answers, exitCode })))
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
    const sandbox = [
      '--unshare-all',
      '--die-with-parent',
      '--clearenv',
      '--chdir',
      `/${HOME}/server`,
    ]
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
