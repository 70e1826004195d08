import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { plainEnv, run } from './staging.ts'

/** The part of an endpoint that the probe needs. */
interface ProbedEndpoint {
  readonly method: string
  readonly path: string
  readonly plan: string
}

const BOOT_DEADLINE_MS = 30_000

/**
 * Starts a built server (`<folder>/dist/main.js`) on an empty SQLite file and calls every endpoint
 * of the contract that is not open. Returns the number of calls; throws with the list of findings
 * if one of them is not 404, with or without a valid key, or if the server does not report the
 * community edition.
 */
export async function probeCommunity(folder: string): Promise<number> {
  const closed = (await contractEndpoints(folder)).filter(({ plan }) => plan !== 'open')
  if (closed.length === 0) throw new Error('the contract names no endpoint above the open tier')
  const key = (await run('node', ['dist/cli.js', 'key', 'generate'], folder)).match(
    /rmk_[0-9A-Za-z]+/,
  )?.[0]
  if (key === undefined) throw new Error('`key generate` printed no key')
  const home = await mkdtemp(join(tmpdir(), 'remit-community-'))
  const server = await boot(folder, home, key)
  try {
    const findings = [
      ...(await checkItIsAlive(server.base, key)),
      ...(await checkNothingElseAnswers(server.base, key, closed)),
    ]
    if (findings.length > 0) throw new Error(`not a community edition:\n  ${findings.join('\n  ')}`)
  } finally {
    await stop(server.child)
    await rm(home, { recursive: true, force: true })
  }
  return closed.length
}

async function contractEndpoints(folder: string): Promise<ProbedEndpoint[]> {
  const entry = pathToFileURL(join(folder, 'node_modules/@remit/contract/dist/index.js'))
  const { contract } = (await import(entry.href)) as { contract: Record<string, ProbedEndpoint> }
  return Object.values(contract)
}

async function boot(
  folder: string,
  home: string,
  key: string,
): Promise<{ child: ChildProcess; base: string }> {
  const port = await freePort()
  const child = spawn('node', [join(folder, 'dist/main.js')], {
    cwd: home,
    env: plainEnv({
      REMIT_HOST: '127.0.0.1',
      REMIT_PORT: String(port),
      REMIT_DATABASE_URL: `sqlite:${join(home, 'remit.db')}`,
      REMIT_BOOTSTRAP_ORG: 'probe',
      REMIT_BOOTSTRAP_KEY: key,
    }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const base = `http://127.0.0.1:${port}`
  const deadline = Date.now() + BOOT_DEADLINE_MS
  while (!(await answers(`${base}/ready`))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await stop(child)
      throw new Error(`the server did not become ready; it printed:\n${output}`)
    }
    await delay(50)
  }
  return { child, base }
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (response) => response.ok,
    () => false,
  )
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
  await exited
  clearTimeout(late)
}

/** Without this check, a server that returns 404 for everything would pass. */
async function checkItIsAlive(base: string, key: string): Promise<string[]> {
  const findings: string[] = []
  const health = (await (await fetch(`${base}/health`)).json()) as { edition?: unknown }
  if (health.edition !== 'community')
    findings.push(`GET /health returned ${JSON.stringify(health)}`)
  const withoutKey = await fetch(`${base}/v1/scorers`)
  if (withoutKey.status !== 401)
    findings.push(`GET /v1/scorers without a key: ${withoutKey.status}, not 401`)
  const withKey = await fetch(`${base}/v1/scorers`, { headers: bearer(key) })
  if (withKey.status !== 200)
    findings.push(`GET /v1/scorers with the key: ${withKey.status}, not 200`)
  // These two read files at run time, which a build could omit.
  const guard = await fetch(`${base}/v1/guard`, {
    method: 'POST',
    body: JSON.stringify({ content: 'The meeting is at ten.' }),
    headers: { ...bearer(key), 'content-type': 'application/json' },
  })
  if (guard.status !== 200) findings.push(`POST /v1/guard with the key: ${guard.status}, not 200`)
  const docs = await fetch(`${base}/docs`)
  if (docs.status !== 200) findings.push(`GET /docs: ${docs.status}, not 200`)
  return findings
}

async function checkNothingElseAnswers(
  base: string,
  key: string,
  closed: readonly ProbedEndpoint[],
): Promise<string[]> {
  const findings: string[] = []
  for (const { method, path } of closed) {
    const url = base + path.replaceAll(/\{\w+\}/g, 'x')
    const body =
      method === 'POST' || method === 'PATCH'
        ? { body: '{}', headers: { 'content-type': 'application/json' } }
        : { headers: {} }
    for (const auth of [{}, bearer(key)]) {
      const response = await fetch(url, { method, ...body, headers: { ...body.headers, ...auth } })
      const who = 'authorization' in auth ? 'with a key' : 'without a key'
      if (response.status !== 404)
        findings.push(`${method} ${path} ${who}: ${response.status}, not 404`)
    }
  }
  const document = await (await fetch(`${base}/openapi.json`)).text()
  for (const { path } of closed)
    if (document.includes(`"${path}"`)) findings.push(`/openapi.json contains ${path}`)
  return findings
}

const bearer = (key: string): Record<string, string> => ({ authorization: `Bearer ${key}` })

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}
