import { execFile } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { inFullRun, packedOnce } from '@remit/core/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const root = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

const COMPILERS = ['5.9', '7'] as const
type Compiler = (typeof COMPILERS)[number]

interface Example {
  readonly name: string
  /** The packages that a user of the framework installs. */
  readonly packages: readonly string[]
  /** Types that the framework's own need, and that it does not bring. */
  readonly types?: Readonly<Record<string, string>>
  /** The output of `remit doctor`. */
  readonly enforced: RegExp
}

const EXAMPLES: readonly Example[] = [
  {
    name: 'vercel-ai',
    packages: ['ai'],
    types: { '@types/json-schema': '7' },
    enforced: /^Vercel AI SDK .* enforced$/m,
  },
  {
    name: 'openai-agents',
    packages: ['@openai/agents', 'zod'],
    enforced: /^OpenAI Agents .* enforced$/m,
  },
  {
    name: 'langchain',
    packages: ['langchain', '@langchain/core', '@langchain/langgraph', 'zod'],
    enforced: /^LangChain .* enforced$/m,
  },
  { name: 'mastra', packages: ['@mastra/core', 'zod'], enforced: /^Mastra .* enforced$/m },
  { name: 'openai-loop', packages: ['openai'], enforced: /^OpenAI .* enforced$/m },
  {
    name: 'claude-agent',
    packages: ['@anthropic-ai/claude-agent-sdk', 'zod'],
    enforced: /^Claude Agent SDK .* enforced while the hook runs$/m,
  },
]

/**
 * Frameworks that are installed together, in one project: an installation and a run of a compiler cost
 * half a minute each. The optional packages of the last are programs of 200 MB, which nothing starts.
 */
const PROJECTS = [
  { names: EXAMPLES.slice(0, -1).map(({ name }) => name), flags: [] },
  { names: ['claude-agent'], flags: ['--omit=optional'] },
]

/** The types of this package do not compile. */
const BROKEN = 'node_modules/@mastra'

const canInstall = inFullRun('installing the packed SDK') && hasModules()

describe.skipIf(!canInstall)('the packed SDK in an empty folder', () => {
  const temp = mkdtempSync(join(tmpdir(), 'remit-sdk-'))
  const compilers = join(temp, 'compilers')
  let tarballs: string
  let server: RemitServer
  let env: Record<string, string>
  beforeAll(async () => {
    tarballs = await packedOnce()
    await install(
      compilers,
      Object.fromEntries(COMPILERS.map((v) => [`typescript-${v}`, `npm:typescript@${v}`])),
    )
    server = await startRemit()
    await server.client.setSpendLimit({ params: { id: 'payer' }, body: { daily_usd: 1000 } })
    const { url } = server
    env = { PATH: process.env['PATH'] ?? '', REMIT: url, REMIT_URL: url, REMIT_KEY: server.org.key }
  }, 900_000)
  afterAll(async () => {
    await server.stop()
    rmSync(temp, { recursive: true, force: true })
  })

  async function install(
    folder: string,
    packages: Readonly<Record<string, string>>,
    flags: readonly string[] = [],
  ) {
    mkdirSync(folder, { recursive: true })
    const tarball = (name: string) => `file:${join(tarballs, `remit-${name}.tgz`)}`
    const sdk = { '@remit/sdk': tarball('sdk'), '@remit/contract': tarball('contract') }
    const isSdk = folder !== compilers
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({
        type: 'module',
        private: true,
        dependencies: { ...(isSdk && sdk), ...packages },
        // The packages depend on each other's version, which no registry has yet.
        ...(isSdk && { overrides: { '@remit/contract': sdk['@remit/contract'] } }),
      }),
    )
    const args = ['install', '--prefer-offline', '--no-audit', '--no-fund', ...flags]
    await run('npm', args, { cwd: folder, maxBuffer: 1 << 24 })
  }

  /** The errors of a compiler, those of a broken package as one. Types that a user lacks would show. */
  async function errorsOf(folder: string, version: Compiler) {
    const compilerOptions = {
      target: 'es2024',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      skipLibCheck: false,
      types: ['node'],
    }
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions, include: ['*.ts'] }),
    )
    const compiler = join(compilers, `node_modules/typescript-${version}/bin/tsc`)
    const { stdout } = await run('node', [compiler, '-p', folder], {
      cwd: folder,
      maxBuffer: 1 << 26,
    }).catch((error: { stdout: string }) => error)
    const places = stdout.split('\n').filter((line) => line.includes('error TS'))
    return [...new Set(places.map((line) => (line.startsWith(`${BROKEN}/`) ? BROKEN : line)))]
  }

  const versionOf = (name: string): string =>
    (
      JSON.parse(
        readFileSync(join(root, 'examples/node_modules', name, 'package.json'), 'utf8'),
      ) as { version: string }
    ).version

  it('brings nothing but the client, compiles, and runs the example of its README', async () => {
    const folder = join(temp, 'readme')
    await install(folder, { '@types/node': '24' })
    const readme = readFileSync(join(folder, 'node_modules/@remit/sdk/README.md'), 'utf8')
    const [, example = ''] = /```ts\n([^]*?)```/.exec(readme) ?? []
    expect(example).toContain('gate.wrap')
    writeFileSync(
      join(folder, 'example.ts'),
      `const bank = { transfer: (sent: { amount_usd: number }) => console.log(sent.amount_usd) }
${example.replace('http://localhost:8080', server.url)}`,
    )

    expect(
      readdirSync(join(folder, 'node_modules')).filter((name) => !/^[.]|^undici-types$/.test(name)),
    ).toEqual(['@remit', '@types', 'zod'])
    for (const version of COMPILERS) expect(await errorsOf(folder, version), version).toEqual([])
    expect((await run('node', ['example.ts'], { cwd: folder, env })).stdout).toBe('40\n')
  }, 600_000)

  describe.each(PROJECTS)('with $names', ({ names, flags }) => {
    const folder = join(temp, names.join('-'))
    const examples = EXAMPLES.filter(({ name }) => names.includes(name))
    const broken = names.includes('mastra') ? [BROKEN] : []
    beforeAll(async () => {
      const packages = examples.flatMap((example) => example.packages)
      const versions = Object.fromEntries(packages.map((one) => [one, versionOf(one)]))
      const types = Object.assign({ '@types/node': '24' }, ...examples.map((one) => one.types))
      await install(folder, { ...versions, ...(types as Record<string, string>) }, flags)
      for (const name of names)
        cpSync(join(root, 'examples', name, 'agent.ts'), join(folder, `${name}.ts`))
    }, 900_000)

    it.each(COMPILERS)(
      'compiles under TypeScript %s, but for types that a framework published broken',
      async (version) => {
        expect(await errorsOf(folder, version)).toEqual(broken)
      },
      900_000,
    )

    // One report names all frameworks of the project; each is imported for it.
    let report: Promise<{ stdout: string }> | undefined
    it.each(examples)('has $name, which remit doctor finds', async ({ enforced }) => {
      const bin = join(folder, 'node_modules/.bin/remit')
      report ??= run(bin, ['doctor'], { cwd: folder, env })

      expect((await report).stdout).toMatch(enforced)
    })

    // Claude Code needs a key of its own.
    it.each(names.filter((name) => name !== 'claude-agent'))('runs %s', async (name) => {
      const { stdout } = await run('node', [`${name}.ts`, '40'], { cwd: folder, env })

      expect(stdout).toContain('Paid 40 USD')
    })
  })
})
