import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { programEnv } from '@remit/testing/pure'
import type { RemitServer } from '../../support/server.ts'
import { GATEWAY, NODE } from './gateway.ts'

/** `remit-mcp serve` in a process of its own, which a test can kill. */
export async function startProgram(
  { url, org }: Pick<RemitServer, 'url' | 'org'>,
  config: object,
  env: Readonly<Record<string, string>> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'remit-gateway-'))
  const path = join(folder, 'gateway.json')
  writeFileSync(path, JSON.stringify({ listen: '127.0.0.1:0', trust: 'first-use', ...config }))
  const child = spawn(process.execPath, [...NODE, GATEWAY, 'serve', '--config', path], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: programEnv({ REMIT_URL: url, REMIT_KEY: org.key, ...env }),
  })
  const ended = once(child, 'close')
  const lines = createInterface({ input: child.stderr })
  const [first] = (await once(lines, 'line')) as [string]
  const [, address = ''] = /listens at (\S+)/.exec(first) ?? []
  if (address === '') throw new Error(first)
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    const [code] = (await ended) as [number | null]
    rmSync(folder, { recursive: true, force: true })
    return code
  }
  return {
    url: address,
    /** SIGKILL: nothing is finished. */
    kill: async () => void (await end('SIGKILL')),
    /** Resolves with the exit code. */
    stop: () => end('SIGTERM'),
  }
}
