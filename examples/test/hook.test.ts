import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { runHook } from '@remit/sdk/hook'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const MAIN = join(resolve(import.meta.dirname, '../..'), 'packages/sdk/src/cli/main.ts')

let calls = 0
const input = (event: string, command = 'ls', id = `call_${++calls}`) => ({
  session_id: 's',
  turn_id: 't',
  transcript_path: null,
  cwd: '/src',
  model: 'gpt',
  permission_mode: 'default',
  hook_event_name: event,
  tool_name: 'Bash',
  tool_input: { command },
  tool_use_id: id,
})
const DENIED = {
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: expect.any(String) as string,
  },
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

async function run(
  given: object | string,
  env: Record<string, string>,
  args: readonly string[] = [],
): Promise<Ended> {
  const out = { stdout: '', stderr: '' }
  const text = typeof given === 'string' ? given : JSON.stringify(given)
  const io = {
    env,
    stdin: (async function* () {
      yield Buffer.from(text)
    })(),
    stdout: { write: (more: string) => (out.stdout += more) },
    stderr: { write: (more: string) => (out.stderr += more) },
  }
  const code = await runHook(['hook', 'codex', ...args], io, new AbortController().signal)
  return { code, ...out }
}

describe.skipIf(!hasModules())('remit-sdk hook codex', () => {
  let server: RemitServer
  let env: Record<string, string>
  /** Takes requests and never answers. */
  const silent = createServer(() => undefined)
  beforeAll(async () => {
    server = await startRemit()
    env = { REMIT_URL: server.url, REMIT_KEY: server.org.key }
    await server.client.createPolicy({
      body: {
        effect: 'deny',
        actions: ['codex.Bash'],
        condition: 'context.args.command == "rm"',
      },
    })
    silent.listen(0, '127.0.0.1')
    await once(silent, 'listening')
  })
  afterAll(async () => {
    silent.closeAllConnections()
    silent.close()
    await server.stop()
  })
  const silentUrl = () => `http://127.0.0.1:${(silent.address() as AddressInfo).port}`

  it('is silent about an allow, and reports the outcome', async () => {
    const before = input('PreToolUse')
    expect(await run(before, env)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect((await run({ ...before, hook_event_name: 'PostToolUse' }, env)).code).toBe(0)

    const { data } = await server.client.listEntries({ query: { agent_id: 'codex', limit: 2 } })
    expect(data.map(({ kind }) => kind)).toEqual(['entry.appended', 'authorization.decided'])
  })

  it('prints a denial', async () => {
    const { code, stdout } = await run(input('PreToolUse', 'rm'), env)

    expect({ code, answer: JSON.parse(stdout) as unknown }).toEqual({ code: 0, answer: DENIED })
  })

  it.each([
    ['refuses the key', () => ({ REMIT_URL: server.url, REMIT_KEY: 'rmk_wrong' })],
    ['is not there', () => ({ ...env, REMIT_URL: 'http://127.0.0.1:1' })],
    ['is named by no URL', () => ({ ...env, REMIT_URL: 'nowhere' })],
  ])('denies by itself where the server %s', async (_, changed) => {
    const { code, stdout, stderr } = await run(input('PreToolUse'), changed())

    expect({ code, answer: JSON.parse(stdout) as unknown }).toEqual({ code: 0, answer: DENIED })
    expect(stderr).toMatch(/^remit-sdk: ./)
  })

  it.each(['{}', '{"hookSpecificOutput":null}', '{"hookSpecificOutput":{}}', 'ok'])(
    'denies where another server answers %s',
    async (text) => {
      const other = createServer((_, response) => void response.end(text)).listen(0, '127.0.0.1')
      await once(other, 'listening')
      const { port } = other.address() as AddressInfo
      const elsewhere = { ...env, REMIT_URL: `http://127.0.0.1:${port}` }
      const { code, stdout } = await run(input('PreToolUse'), elsewhere)
      other.close()

      expect({ code, answer: JSON.parse(stdout) as unknown }).toEqual({ code: 0, answer: DENIED })
    },
  )

  it('denies before the time-out of Codex if the server does not answer', async () => {
    const args = ['--timeout', '3', '--url', silentUrl()]
    const { code, stdout } = await run(input('PreToolUse'), env, args)

    expect({ code, answer: JSON.parse(stdout) as unknown }).toEqual({ code: 0, answer: DENIED })
    expect(stdout).toContain('did not answer in time')
  })

  it.each(['', '{', '[]', '{"tool_name":"Bash"}'])(
    'blocks by its exit code where the input is %j',
    async (text) => {
      expect((await run(text, { ...env, REMIT_URL: silentUrl() }, ['--timeout', '3'])).code).toBe(2)
    },
  )

  it.each([
    ['without a key', { REMIT_KEY: '' }, []],
    ['with an unknown option', {}, ['--time', '3']],
    ['with a time-out that Remit does not have', {}, ['--timeout', '600']],
  ])('blocks by its exit code %s', async (_, changed, args) => {
    expect((await run(input('PreToolUse'), { ...env, ...changed }, args)).code).toBe(2)
  })

  it('fails visibly if an outcome cannot be reported', async () => {
    const { code, stdout, stderr } = await run(input('PostToolUse'), { ...env, REMIT_KEY: 'x' })

    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toContain('401')
  })

  it('denies when Codex ends it', async () => {
    const asked = new Promise<void>((done) => silent.once('request', () => done()))
    const args = ['--conditions=@remit/source', MAIN, 'hook', 'codex', '--url', silentUrl()]
    const child = spawn(process.execPath, args, { env: { ...process.env, ...env } })
    let stdout = ''
    child.stdout.on('data', (more: Buffer) => (stdout += more.toString()))
    child.stdin.end(JSON.stringify(input('PreToolUse')))
    await asked
    child.kill('SIGTERM')
    const [code] = (await once(child, 'close')) as [number | null]

    expect({ code, answer: JSON.parse(stdout) as unknown }).toEqual({ code: 0, answer: DENIED })
  })
})
