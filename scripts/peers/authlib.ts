import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startRemit } from '../../examples/test/support/server.ts'
import { FOLDER, ROOT, table } from './environment.ts'

/** The environment of a Python program that calls a server. */
export const environmentOf = ({ url, org }: Awaited<ReturnType<typeof startRemit>>) => ({
  REMIT_URL: url,
  REMIT_KEY: org.key,
  REMIT_ORG: org.id,
})

/** Runs a Python program of this folder in the environment `name`; returns its exit code and what it printed. */
export async function runPython(
  name: string,
  program: string,
  env: Readonly<Record<string, string>>,
): Promise<{ code: number | null; output: string }> {
  const child = spawn(join(FOLDER, name, 'bin/python'), [join(ROOT, 'scripts/peers', program)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, ...env },
  })
  const [output, [code]] = await Promise.all([
    text(child.stdout),
    once(child, 'close') as Promise<[number | null]>,
  ])
  return { code, output }
}

/** Runs a client made with Authlib against a server of its own. */
export async function useClient(): Promise<{ figures: string; problems: string[] }> {
  const server = await startRemit({ failedKeyLimit: 0 })
  try {
    const { code, output } = await runPython('authlib', 'authlib_client.py', environmentOf(server))
    const result = JSON.parse(output.trim().split('\n').at(-1) ?? '{}') as Record<string, string>
    const names = ['version', 'checks', 'failed']
    const figures = table(names, [names.map((name) => String(result[name]))])
    return { figures, problems: code === 0 ? [] : ['a check failed: see above'] }
  } finally {
    await server.stop()
  }
}
