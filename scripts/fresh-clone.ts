/**
 * The steps of a new user: the README's first command in a fresh copy, its requests, and its
 * verification of the ledger. Exits with 1 if a step fails or the first decision takes longer than
 * a minute with a warm package store.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readmeBlocks, readmeRequests } from '../apps/server/test/support/readme.ts'
import { plainEnv, ROOT, run, stageWorkingTree } from './staging.ts'

const LIMIT_MS = 60_000
const folder = await mkdtemp(join(tmpdir(), 'remit-fresh-'))
try {
  await stageWorkingTree(folder)
  await tryOut()
} finally {
  rmSync(folder, { recursive: true, force: true })
}

async function tryOut(): Promise<void> {
  const [[start = ''] = [], , [verify = ''] = []] = await readmeBlocks(ROOT)
  const begun = performance.now()
  // A process group, so that npx, pnpm and the server exit together.
  const server = spawn('bash', ['-c', start], {
    cwd: folder,
    env: plainEnv({ REMIT_PORT: '0' }),
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  try {
    const { url, key } = await firstKey(server.stdout)
    const [limit = '', allowed = '', denied = '', entries = ''] = await readmeRequests(folder, url)
    await ask(limit, key, '"daily_usd":100')
    await ask(allowed, key, '"decision":"allow"')
    const took = performance.now() - begun
    await ask(denied, key, '"decision":"deny"')
    await ask(entries, key, '"kind":"authorization.decided"')
    console.log(`first decision ${(took / 1000).toFixed(1)} s after the start of a fresh copy`)
    if (took > LIMIT_MS) throw new Error(`the first decision took longer than ${LIMIT_MS} ms`)
    console.log((await run('bash', ['-c', verify], folder)).trim())
  } finally {
    if (server.pid !== undefined) process.kill(-server.pid, 'SIGTERM')
    await once(server, 'close')
  }
}

async function firstKey(output: AsyncIterable<Buffer>): Promise<{ url: string; key: string }> {
  let said = ''
  for await (const chunk of output) {
    said += chunk.toString()
    const url = /Remit listens on (\S+)/.exec(said)?.[1]
    const key = /\b(rmk_[0-9A-Za-z]{65})\b/.exec(said)?.[1]
    if (url !== undefined && key !== undefined) return { url, key }
  }
  throw new Error(`the server exited before it printed a key:\n${said}`)
}

async function ask(line: string, key: string, expected: string): Promise<void> {
  const answer = await run('bash', ['-c', `export REMIT_KEY=${key}; ${line}`], folder)
  if (!answer.includes(expected))
    throw new Error(`${line}\nreturned ${answer}\nwithout ${expected}`)
}
