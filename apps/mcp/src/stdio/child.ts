import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

/** A server that the gateway starts. */
export interface Command {
  readonly command: string
  readonly args: readonly string[]
  /** In addition to the variables that every program needs. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Variables without which programs do not start; nothing of them is secret. */
const PASSED = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'SYSTEMROOT', 'APPDATA', 'USERPROFILE', 'PATHEXT']
const KILL_MS = 2_000

export interface Child {
  readonly stdin: Writable
  readonly stdout: Readable
  readonly process: ChildProcess
  /** Resolves with a text once the server has ended. */
  readonly ended: Promise<string>
  /** Closes its input, and ends it if that does not. */
  readonly stop: () => Promise<void>
}

/** Starts a server with the environment that its command names, and nothing else of the gateway's. */
export function startChild(
  { command, args, env = {}, cwd }: Command,
  outer: Readonly<Record<string, string | undefined>>,
): Child {
  const passed: Record<string, string> = {}
  for (const name of PASSED) {
    const value = outer[name]
    if (value !== undefined) passed[name] = value
  }
  const child = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { ...passed, ...env },
    ...(cwd !== undefined && { cwd }),
  })
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(`${command} did not start: ${error.message}`))
    child.once('close', (code, signal) => resolve(`${command} ended (${signal ?? code})`))
  })
  // A server that ends while it is written to is reported by `ended`.
  child.stdin.on('error', () => undefined)
  return {
    stdin: child.stdin,
    stdout: child.stdout,
    process: child,
    ended,
    async stop() {
      child.stdin.end()
      const terminate = setTimeout(() => child.kill('SIGTERM'), KILL_MS)
      const kill = setTimeout(() => child.kill('SIGKILL'), 2 * KILL_MS)
      await ended
      clearTimeout(terminate)
      clearTimeout(kill)
    },
  }
}
