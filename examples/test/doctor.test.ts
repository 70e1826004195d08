import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createTestRemit, inFullRun, programEnv } from '@remit/testing'
import { listen } from '@remit/server/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const root = resolve(import.meta.dirname, '../..')
const SDK = ['--conditions=@remit/source', join(root, 'packages/sdk/src/cli/main.ts')]
const SERVER = ['--conditions=@remit/source', join(root, 'apps/server/src/cli.ts')]

const hasPython = spawnSync('python3', ['--version']).status === 0

interface Finding {
  readonly package: string
  readonly enforcement: string
  readonly detail: string
  readonly cases: readonly unknown[]
}

interface Ended {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

const isRun = inFullRun('remit-sdk doctor') && hasModules()

describe.skipIf(!isRun)('remit-sdk doctor', () => {
  const temp = mkdtempSync(join(tmpdir(), 'remit-doctor-'))
  let server: RemitServer
  let env: Record<string, string>
  beforeAll(async () => {
    server = await startRemit()
    env = { REMIT_URL: server.url, REMIT_KEY: server.org.key }
  })
  afterAll(async () => {
    await server.stop()
    rmSync(temp, { recursive: true, force: true })
  })

  const doctor = (args: readonly string[], changed: Record<string, string> = {}, program = SDK) =>
    new Promise<Ended>((done) => {
      const options = { env: programEnv({ ...env, ...changed }) }
      execFile('node', [...program, 'doctor', ...args], options, (error, stdout, stderr) =>
        done({ code: error ? Number(error.code) : 0, stdout, stderr }),
      )
    })
  const findingsIn = async (folder: string): Promise<Finding[]> => {
    const { stdout } = await doctor([folder, '--json'])
    return (JSON.parse(stdout) as { findings: Finding[] }).findings
  }

  let count = 0
  /** A project with the installed frameworks of the examples, and others where given. */
  function project(
    dependencies: readonly string[],
    source: string,
    installed: Readonly<Record<string, string>> = {},
  ): string {
    const folder = join(temp, `project-${count++}`)
    mkdirSync(join(folder, 'src'), { recursive: true })
    const manifest = { dependencies: Object.fromEntries(dependencies.map((name) => [name, '*'])) }
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
    writeFileSync(join(folder, 'src/agent.ts'), source)
    for (const name of ['@remit/sdk', 'ai', 'langchain', '@anthropic-ai/claude-agent-sdk']) {
      const link = join(folder, 'node_modules', name)
      mkdirSync(dirname(link), { recursive: true })
      if (!(name in installed)) symlinkSync(join(root, 'examples/node_modules', name), link)
    }
    for (const [name, version] of Object.entries(installed)) {
      const path = join(folder, 'node_modules', name)
      mkdirSync(path, { recursive: true })
      writeFileSync(join(path, 'package.json'), JSON.stringify({ name, version }))
    }
    return folder
  }

  it('finds every framework of the examples enforced, and exits with 0', async () => {
    const { code, stdout, stderr } = await doctor([join(root, 'examples')])

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const lines = stdout.split('\n').map((line) => line.replace(/ {2,}/, ' | '))
    expect(lines.slice(2)).toEqual([
      expect.stringMatching(/^Wrapped tools \(@remit\/sdk [\d.]+\) \| enforced$/),
      expect.stringMatching(/^Vercel AI SDK \(ai [\d.]+\) \| enforced$/),
      expect.stringMatching(/^OpenAI Agents \(@openai\/agents [\d.]+\) \| enforced$/),
      expect.stringMatching(/^LangChain \(langchain [\d.]+\) \| enforced$/),
      expect.stringMatching(/^Mastra \(@mastra\/core [\d.]+\) \| enforced$/),
      expect.stringMatching(
        /^Claude Agent SDK \(@anthropic-ai\/claude-agent-sdk [\d.]+\) \| enforced while the hook runs$/,
      ),
      expect.stringMatching(/^OpenAI \(openai [\d.]+\) \| enforced$/),
      '',
    ])
    const { data } = await server.client.listEntries({ query: { kind: 'selftest.checked' } })
    expect(data.length).toBeGreaterThan(10)
  })

  it('runs from the command line of the server, with the SDK of the project', async () => {
    const folder = project(['ai'], `import { governed } from '@remit/sdk/vercel'`)

    const { code, stdout } = await doctor([folder, '--json'], {}, SERVER)

    expect(code).toBe(0)
    expect((JSON.parse(stdout) as { findings: Finding[] }).findings).toMatchObject([
      {
        package: 'ai',
        enforcement: 'enforced',
        cases: Array.from({ length: 5 }, () => ({ passed: true })),
      },
    ])
    rmSync(join(folder, 'node_modules/@remit'), { recursive: true })
    const without = await doctor([folder], {}, SERVER)
    expect(without.code).toBe(2)
    expect(without.stderr).toMatch(/^remit: .* has no @remit\/sdk/)
  })

  it('sees a framework that no adapter governs, and exits with 1', async () => {
    const folder = project(
      ['ai', 'langchain', 'openai'],
      `
import { generateText } from 'ai'
// import { governed } from '@remit/sdk/vercel'
import type { governed } from '@remit/sdk/vercel'
const { createAgent } = await import('langchain')
`,
    )
    const { code, stdout } = await doctor([folder])

    expect(code).toBe(1)
    expect(stdout).toMatch(
      /Vercel AI SDK \(ai [\d.]+\) +not enforced\n {2}no file imports @remit\/sdk\/vercel\n/,
    )
    expect(stdout).toMatch(/LangChain \(langchain [\d.]+\) +not enforced\n/)
    expect(stdout).toMatch(/^imported by no file: openai$/m)
  })

  it('takes wrapped tools for enforcement, but not in a host that runs them itself', async () => {
    const folder = project(
      ['ai', '@anthropic-ai/claude-agent-sdk'],
      `import 'ai'\nimport { createGate } from '@remit/sdk/node'\nimport { query } from '@anthropic-ai/claude-agent-sdk'`,
    )

    expect(await findingsIn(folder)).toMatchObject([
      { package: '@remit/sdk', enforcement: 'enforced' },
      {
        package: 'ai',
        enforcement: 'enforced',
        detail: expect.stringContaining('gate.wrap') as string,
      },
      { package: '@anthropic-ai/claude-agent-sdk', enforcement: 'not_enforced' },
    ])
  })

  it('does not vouch for a version that is too old, not installed, or not the one it loads', async () => {
    const source = `
import { governed } from '@remit/sdk/vercel'
import { remitMiddleware } from '@remit/sdk/langchain'
import { claudeAgent } from '@remit/sdk/claude-agent'
import { governed as mastra } from '@remit/sdk/mastra'`
    const folder = project(['ai'], source, {
      ai: '6.9.9',
      langchain: '1.99.0',
      '@anthropic-ai/claude-agent-sdk': '0.2.400',
    })

    const { code, stdout } = await doctor([folder, '--json'])

    expect(code).toBe(1)
    const findings = (JSON.parse(stdout) as { findings: Finding[] }).findings
    expect(
      findings.map((finding) => [finding.package, finding.enforcement, finding.cases]),
    ).toEqual([
      ['ai', 'not_enforced', []],
      ['langchain', 'not_tested', []],
      ['@mastra/core', 'not_tested', []],
      ['@anthropic-ai/claude-agent-sdk', 'not_enforced', []],
    ])
    expect(findings.map(({ detail }) => detail).join('\n')).toMatch(
      /ai 7\.0\.0 or newer\n.*finds [\d.]+ langchain\n@mastra\/core is not installed\n.*0\.3\.300 or newer/,
    )
  })

  it.each<[string, Record<string, string>, RegExp]>([
    [
      'the server is down',
      { REMIT_URL: 'http://127.0.0.1:9' },
      /no server answers at http:\/\/127\.0\.0\.1:9 \(unreachable\)/,
    ],
    ['the key is wrong', { REMIT_KEY: 'rmk_wrong' }, /refuses the key in REMIT_KEY/],
    ['there is no key', { REMIT_KEY: '' }, /REMIT_KEY is not set/],
    ['the address is none', { REMIT_URL: 'localhost' }, /baseUrl must be an http or https URL/],
  ])('says that %s, and exits with 2', async (_, changed, message) => {
    const { code, stdout, stderr } = await doctor([join(root, 'examples')], changed)

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(message)
    expect(stderr.split('\n')).toHaveLength(2)
  })

  it('says that the community edition does not decide', async () => {
    const remit = await createTestRemit({})
    const listener = await listen(remit.app, { host: '127.0.0.1', port: 0 })
    const { key } = await remit.organization()

    const { code, stderr } = await doctor(
      [join(root, 'examples'), '--json', '--url', listener.url],
      {
        REMIT_KEY: key,
      },
    )

    expect(code).toBe(2)
    expect(JSON.parse(stderr)).toEqual({
      error: { message: expect.stringContaining('community edition') as string, exit_code: 2 },
    })
    await listener.stop()
    await remit.close()
  })

  it.skipIf(!hasPython)('tests the Python frameworks of a project with its own remit', async () => {
    const folder = join(temp, 'python')
    mkdirSync(folder)
    writeFileSync(join(folder, 'requirements.txt'), 'langchain>=1.0\n# openai-agents\n')
    writeFileSync(join(folder, 'agent.py'), 'import remit\n')
    const path = join(root, 'sdks/python/src')

    const without = await doctor([folder])
    expect(without.code).toBe(1)
    expect(without.stdout).toMatch(/LangChain \(langchain\) +not enforced\n.*has no package remit/)
    const wrapped = await doctor([folder, '--json'], { PYTHONPATH: path })
    expect(wrapped.code).toBe(0)
    expect(JSON.parse(wrapped.stdout)).toMatchObject({
      findings: [{ language: 'python', package: 'remit', enforcement: 'enforced' }],
    })
    writeFileSync(join(folder, 'agent.py'), 'print()\n')
    const idle = await doctor([folder], { PYTHONPATH: path })
    expect(idle.code).toBe(2)
    expect(idle.stdout).toMatch(/not tested\n.*no file in .* imports remit/)
  })

  it('refuses a folder without anything to test', async () => {
    const empty = join(temp, 'empty')
    mkdirSync(empty)

    expect(await doctor([empty])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('package.json') as string,
    })
    expect(await doctor([join(temp, 'nowhere')])).toMatchObject({ code: 2 })
    expect(await doctor([project([], 'export {}')])).toMatchObject({ code: 2 })
    expect(await doctor([empty, '--wide'])).toMatchObject({ code: 2 })
  })
})
