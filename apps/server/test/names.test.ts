import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')

/** Texts of the working tree that tell people what to type or to set; not its history. */
const texts = async (): Promise<{ path: string; text: string }[]> => {
  const list = ['-c', 'safe.directory=*', 'ls-files', '-co', '--exclude-standard']
  const { stdout } = await promisify(execFile)('git', list, { cwd: root, maxBuffer: 1 << 24 })
  return stdout
    .split('\n')
    .filter((path) => /\.(md|ts|tsx|json|ya?ml|sh|py|toml|service)$/.test(path))
    .filter((path) => !/(^|\/)(CHANGELOG\.md|test|tests|\.changeset|adr)(\/|$)|\.test\./.test(path))
    .flatMap((path) => {
      try {
        return [{ path, text: readFileSync(resolve(root, path), 'utf8') }]
      } catch {
        return []
      }
    })
}
const linesWith = async (pattern: RegExp): Promise<string[]> =>
  (await texts()).flatMap(({ path, text }) =>
    text
      .split('\n')
      .filter((line) => pattern.test(line))
      .map((line) => `${path}: ${line.trim()}`),
  )

describe('names', () => {
  test('no two packages have a program of the same name, and remit is that of the server', async () => {
    const programs = (await texts())
      .filter(({ path }) => /^(packages|apps)\/[\w-]+\/package\.json$/.test(path))
      .flatMap(({ text }) => {
        const { name, bin = {} } = JSON.parse(text) as { name: string; bin?: object }
        return Object.keys(bin).map((program) => `${program} of ${name}`)
      })

    expect(programs.toSorted()).toEqual([
      'remit of @remit/server',
      'remit-mcp of @remit/mcp',
      'remit-sdk of @remit/sdk',
      'remit-verify of @remit/verify',
    ])
    expect(readFileSync(resolve(root, 'sdks/python/pyproject.toml'), 'utf8')).not.toContain(
      '[project.scripts]',
    )
  })

  test('REMIT_URL and REMIT_KEY are the only names of the address and the key', async () => {
    const others = /\bREMIT_(API_KEY|CREDENTIAL|TOKEN|SERVER|HOST_URL)\b|\$REMIT\b/
    const lines = await linesWith(others)

    expect(lines.filter((line) => !/\bold\b/.test(line))).toEqual([])
  })
})
