import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { createApi } from '@remit/testing'
import type { Api } from '@remit/testing'
import { listen } from '../../src/boot/listen.ts'
import { loadModules } from '../../src/boot/modules.ts'
import { run as runProgram } from '../../src/cli/program.ts'

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a command with only these settings. */
export async function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<CommandResult> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const io = {
    env,
    stdin: new PassThrough(),
    stdout,
    stderr,
    endSignal: () => new AbortController().signal,
  }
  const code = await runProgram(args, io)
  stdout.end()
  stderr.end()
  return { code, stdout: await text(stdout), stderr: await text(stderr) }
}

/** A server with all modules, and commands that call it with an admin key. */
export async function createRemoteCommands(): Promise<RemoteCommands> {
  const api = await createApi({ modules: await loadModules() })
  const server = await listen(api.remit.app, { host: '127.0.0.1', port: 0 })
  const env = { REMIT_URL: server.url, REMIT_KEY: api.org.key }
  return {
    api,
    run: (args, changed = {}) => runCommand(args, { ...env, ...changed }),
    async close() {
      await server.stop()
      await api.remit.close()
    },
  }
}

export interface RemoteCommands {
  readonly api: Api
  run(args: readonly string[], changed?: Record<string, string>): Promise<CommandResult>
  close(): Promise<void>
}
