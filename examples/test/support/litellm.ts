import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { vi } from 'vitest'
import { freePort } from '../mcp/support/http.ts'
import { hasModules } from './server.ts'

/** `node scripts/peers.ts litellm-oldest litellm-newest` installs them. */
const peers = resolve(import.meta.dirname, '../../../node_modules/.cache/peers')
const programOf = (version: string) => join(peers, `litellm-${version}`, 'bin/litellm')

/** Returns whether the LiteLLM is installed; if not, says so. */
export const hasLiteLlm = (version: string) => {
  const isThere = hasModules() && existsSync(programOf(version))
  if (!isThere) process.stderr.write(`skipped: the ${version} LiteLLM is not installed\n`)
  return isThere
}

export interface LiteLlm {
  readonly url: string
  log(): string
  stop(): Promise<void>
}

/** Starts the proxy with the configuration, and with `auth` as the module `remit_auth` beside it. */
export async function startLiteLlm(
  version: string,
  config: object,
  auth: string,
  more: Readonly<Record<string, string>> = {},
): Promise<LiteLlm> {
  const folder = mkdtempSync(join(tmpdir(), 'remit-litellm-'))
  writeFileSync(join(folder, 'remit_auth.py'), auth)
  // YAML reads JSON.
  writeFileSync(join(folder, 'config.yaml'), JSON.stringify(config))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const args = ['--config', 'config.yaml', '--host', '127.0.0.1', '--port', String(port)]
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    LITELLM_LOCAL_MODEL_COST_MAP: 'True',
    ...more,
  }
  const child = spawn(programOf(version), args, {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let log = ''
  child.stdout.on('data', (chunk) => (log += String(chunk)))
  child.stderr.on('data', (chunk) => (log += String(chunk)))
  const isUp = async () => {
    if (child.exitCode !== null) throw new Error(`LiteLLM ended: ${log.slice(-2_000)}`)
    return fetch(`${url}/health/liveliness`).then(
      ({ ok }) => ok,
      () => false,
    )
  }
  await vi.waitUntil(isUp, { timeout: 280_000, interval: 250 })
  return {
    url,
    log: () => log,
    async stop() {
      const ended = once(child, 'close')
      child.kill('SIGKILL')
      await ended
      rmSync(folder, { recursive: true })
    },
  }
}
