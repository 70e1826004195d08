import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { isAbsolute } from 'node:path'
import { bundledProgram, programEnv, SOURCE_FLAGS } from '@remit/testing/pure'

const READY_MS = 120_000

type Env = Readonly<Record<string, string>>

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A program of the server in a process of its own, with nothing of this one's settings. */
export class RunningProcess {
  readonly child: ChildProcess
  readonly #ended: Promise<Ended>
  stdout = ''
  stderr = ''

  /** `program` is one of the bundle, or a path. */
  constructor(program: string, args: readonly string[], env: Env, cwd?: string) {
    this.child = spawn(
      process.execPath,
      [...SOURCE_FLAGS, isAbsolute(program) ? program : bundledProgram(program), ...args],
      {
        env: programEnv(env),
        stdio: ['ignore', 'pipe', 'pipe'],
        ...(cwd !== undefined && { cwd }),
      },
    )
    this.child.stdout?.on('data', (chunk: Buffer) => (this.stdout += chunk.toString()))
    this.child.stderr?.on('data', (chunk: Buffer) => (this.stderr += chunk.toString()))
    this.#ended = once(this.child, 'close').then(([code]) => ({
      code: code as number | null,
      stdout: this.stdout,
      stderr: this.stderr,
    }))
  }

  /** Resolves with the first match in what it has written to standard output. */
  says(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#matches('stdout', pattern)
  }

  /** As `says`, of standard error. */
  logs(pattern: RegExp): Promise<RegExpExecArray> {
    return this.#matches('stderr', pattern)
  }

  async #matches(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray> {
    const late = AbortSignal.timeout(READY_MS)
    for (;;) {
      const match = pattern.exec(this[stream])
      if (match) return match
      const heard = once(this.child[stream] ?? this.child, 'data', { signal: late })
      const ended = this.#ended.then(() => Promise.reject(new Error('it ended')))
      await Promise.race([heard, ended]).catch((error: unknown) => {
        if (pattern.test(this[stream])) return
        this.child.kill('SIGKILL')
        throw new Error(`it never said ${pattern}: ${this.stdout}${this.stderr}`, { cause: error })
      })
    }
  }

  ended(): Promise<Ended> {
    return this.#ended
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Ended> {
    this.child.kill(signal)
    return this.#ended
  }
}

/** `remit serve` in its own process, once it answers; of another build with its `program`. */
export async function startServer(
  env: Env,
  program = 'cli',
): Promise<{ url: string; server: RunningProcess }> {
  const server = new RunningProcess(program, ['serve', '--json'], env)
  const [line] = await server.says(/^\{.*\}$/m)
  return { url: (JSON.parse(line) as { url: string }).url, server }
}

/** Runs `remit` to its end. */
export const remit = (args: readonly string[], env: Env, cwd?: string): Promise<Ended> =>
  new RunningProcess('cli', args, env, cwd).ended()

/** A request with a key; `body` is sent as JSON. */
export const request = (
  url: string,
  key: string,
  method = 'GET',
  body?: unknown,
): Promise<Response> =>
  fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
