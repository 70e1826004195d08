import { execFile } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { hasVenv, inFullRun, isCompleteRun, packedOnce } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasModules, startRemit } from './support/server.ts'
import type { RemitServer } from './support/server.ts'

const root = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

/** Versions of TypeScript; a complete run has the oldest one too. */
const COMPILERS = isCompleteRun ? ['5.9', '7'] : ['7']

interface Example {
  readonly name: string
  /** The packages that a user of the framework installs. */
  readonly packages: readonly string[]
  /** Types that the framework's own need, and that it does not bring. */
  readonly types?: Readonly<Record<string, string>>
  /** The framework's own types do not compile: users skip the library check. */
  readonly hasBrokenTypes?: true
  /** The output of `remit-sdk doctor`. */
  readonly enforced: RegExp
}

/** They are installed together: an installation and a run of a compiler cost half a minute each. */
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
  {
    name: 'mastra',
    packages: ['@mastra/core', 'zod'],
    hasBrokenTypes: true,
    enforced: /^Mastra .* enforced$/m,
  },
  { name: 'openai-loop', packages: ['openai'], enforced: /^OpenAI .* enforced$/m },
  {
    name: 'claude-agent',
    packages: ['@anthropic-ai/claude-agent-sdk', 'zod'],
    enforced: /^Claude Agent SDK .* enforced while the hook runs$/m,
  },
]

/** The commands of docs/install.md, block by block. */
const [NPM = [], PNPM = [], PIP = [], PROGRAMS = []] = [
  ...readFileSync(join(root, 'docs/install.md'), 'utf8').matchAll(/^```sh\n([^]*?)^```/gm),
].map(([, block = '']) => block.trimEnd().split('\n'))

const canInstall = inFullRun('installing the packed SDK') && hasModules()

describe.skipIf(!canInstall)('the packed SDK in an empty folder', () => {
  // Beside the store of pnpm, which links files.
  const temp = join(tmpdir(), `remit-sdk-${process.pid}`)
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
    env = { PATH: process.env['PATH'] ?? '', REMIT_URL: url, REMIT_KEY: server.org.key }
  }, 900_000)
  afterAll(async () => {
    await server.stop()
    rmSync(temp, { recursive: true, force: true })
  })

  async function install(folder: string, packages: Readonly<Record<string, string>>) {
    mkdirSync(folder, { recursive: true })
    const tarball = (name: string) =>
      `file:${globSync(join(tarballs, `remit-${name}-*.tgz`)).join('')}`
    const sdk = { '@remit/sdk': tarball('sdk'), '@remit/contract': tarball('contract') }
    const isSdk = folder !== compilers
    // The packages depend on each other's version, which no registry has yet.
    const overrides = isSdk ? { '@remit/contract': sdk['@remit/contract'] } : {}
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({
        type: 'module',
        private: true,
        dependencies: { ...(isSdk && sdk), ...packages },
        overrides,
      }),
    )
    const settings = {
      packages: [],
      overrides,
      strictDepBuilds: false,
      // Leaves out the programs that a framework brings: 200 MB, which nothing starts.
      supportedArchitectures: { os: isSdk ? ['none'] : ['current'] },
    }
    writeFileSync(join(folder, 'pnpm-workspace.yaml'), JSON.stringify(settings))
    await run('pnpm', ['install', '--prefer-offline'], { cwd: folder, maxBuffer: 1 << 24 })
  }

  /** Runs commands of docs/install.md in a folder. Packages of ours are on no registry. */
  async function follow(folder: string, lines: readonly string[], settings = {}) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, '.npmrc'), '@remit:registry=http://127.0.0.1:9/\n')
    const script = lines.join('\n').replaceAll('../remit-release', tarballs)
    const quiet = { npm_config_audit: 'false', npm_config_fund: 'false', PIP_NO_INDEX: '1' }
    await run('sh', ['-ec', script], {
      cwd: folder,
      env: { ...process.env, ...quiet, ...settings },
      maxBuffer: 1 << 24,
    })
  }

  /** Writes the example of the README, with a second transfer that is above the limit. */
  function writeExample(folder: string) {
    const readme = readFileSync(join(folder, 'node_modules/@remit/sdk/README.md'), 'utf8')
    const [, example = ''] = /```ts\n([^]*?)```/.exec(readme) ?? []
    expect(example).toContain('gate.wrap')
    writeFileSync(
      join(folder, 'example.mts'),
      `const bank = { transfer: (sent: { amount_usd: number }) => console.log(sent.amount_usd) }
${example.replace('http://localhost:8080', server.url)}
await transfer({ amount_usd: 4000 }).catch((error: Error) => console.log(error.message))
`,
    )
  }
  const PAID_ONCE = /^40\nNot executed: denied by Remit \(spend_limit_daily\).*\n$/

  /** The errors of a compiler. Without `skipLibCheck`, types that a user lacks would show. */
  async function errorsOf(
    folder: string,
    version: string,
    files: readonly string[],
    skipLibCheck = false,
  ) {
    const compilerOptions = {
      target: 'es2024',
      module: 'nodenext',
      strict: true,
      noEmit: true,
      skipLibCheck,
      types: ['node'],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const compiler = join(compilers, `node_modules/typescript-${version}/bin/tsc`)
    // Tests use the other processors.
    const one = version === '7' ? ['--checkers', '1'] : []
    const { stdout } = await run('node', [compiler, '-p', folder, ...one], {
      cwd: folder,
      maxBuffer: 1 << 26,
    }).catch((error: { stdout: string }) => error)
    return stdout.split('\n').filter((line) => line.includes('error TS'))
  }

  const versionOf = (name: string): string =>
    (
      JSON.parse(
        readFileSync(join(root, 'examples/node_modules', name, 'package.json'), 'utf8'),
      ) as { version: string }
    ).version

  it('brings nothing but the client, compiles, and runs the example of its README', async () => {
    const folder = join(temp, 'with-npm')
    const [pack, change, ...lines] = NPM
    expect(pack).toContain('pnpm release:pack ../remit-release --only npm,python')
    expect([change, lines.length]).toEqual(['cd ../my-agent', 1])
    await follow(folder, lines)
    await follow(folder, ['npm install --no-save @types/node@24'])
    writeExample(folder)

    expect(
      readdirSync(join(folder, 'node_modules')).filter((name) => !/^[.]|^undici-types$/.test(name)),
    ).toEqual(['@remit', '@types', 'zod'])
    for (const version of COMPILERS)
      expect(await errorsOf(folder, version, ['example.mts']), version).toEqual([])
    expect((await run('node', ['example.mts'], { cwd: folder, env })).stdout).toMatch(PAID_ONCE)
  }, 600_000)

  it('installs with pnpm, and runs the example', async () => {
    const folder = join(temp, 'with-pnpm')
    await follow(folder, PNPM)
    writeExample(folder)

    expect((await run('node', ['example.mts'], { cwd: folder, env })).stdout).toMatch(PAID_ONCE)
  }, 600_000)

  it.skipIf(!hasVenv())(
    'installs with pip, and runs the example of Python',
    async () => {
      const folder = join(temp, 'with-pip')
      const venv = join(folder, 'venv')
      // A shell of its own would find the python3 that it has used before.
      await run('python3', ['-m', 'venv', venv])
      await follow(folder, PIP, {
        PATH: `${join(venv, 'bin')}:${process.env['PATH']}`,
        PIP_REQUIRE_VIRTUALENV: '1',
      })
      const readme = readFileSync(join(root, 'sdks/python/README.md'), 'utf8')
      const [, example = ''] = /```python\n([^]*?)```/.exec(readme) ?? []
      expect(example).toContain('@gate.tool')
      writeFileSync(
        join(folder, 'example.py'),
        `import os
key = os.environ["REMIT_KEY"]
${example.replace('http://localhost:8080', server.url).replace('...', 'print(int(amount_usd), flush=True)')}
transfer(40.0, to="a")
try:
    transfer(4000.0, to="a")
except Exception as error:
    print(error)
`,
      )
      const { stdout } = await run(join(venv, 'bin/python'), ['example.py'], { cwd: folder, env })

      expect(stdout).toMatch(PAID_ONCE)
    },
    600_000,
  )

  it('brings the programs of docs/install.md, which find what they depend on', async () => {
    const prefix = join(temp, 'global')
    await follow(prefix, PROGRAMS, { npm_config_prefix: prefix, npm_config_loglevel: 'error' })
    const usage = async (name: string) =>
      (await run(join(prefix, 'bin', name), ['--help'], { env })).stdout

    for (const name of ['remit-sdk', 'remit-mcp', 'remit-verify'])
      expect(await usage(name)).toMatch(new RegExp(`^usage: ${name} `))
  }, 600_000)

  // `examples.test.ts` runs them with the sources in every full run.
  describe.runIf(isCompleteRun)('with all frameworks', () => {
    const folder = join(temp, 'frameworks')
    const filesOf = (examples: readonly Example[]) => examples.map(({ name }) => `${name}.ts`)
    const broken = EXAMPLES.filter(({ hasBrokenTypes }) => hasBrokenTypes)
    const sound = EXAMPLES.filter(({ hasBrokenTypes }) => !hasBrokenTypes)
    beforeAll(async () => {
      const packages = EXAMPLES.flatMap((example) => example.packages)
      const versions = Object.fromEntries(packages.map((one) => [one, versionOf(one)]))
      const types = Object.assign({ '@types/node': '24' }, ...EXAMPLES.map((one) => one.types))
      await install(folder, { ...versions, ...(types as Record<string, string>) })
      for (const { name } of EXAMPLES)
        cpSync(join(root, 'examples', name, 'agent.ts'), join(folder, `${name}.ts`))
    }, 900_000)

    it.each(COMPILERS)(
      'compiles under TypeScript %s, with the types of the frameworks',
      async (version) => {
        expect(await errorsOf(folder, version, filesOf(sound))).toEqual([])
      },
      900_000,
    )

    it.each(COMPILERS)(
      'compiles under TypeScript %s, beside types that a framework published broken',
      async (version) => {
        expect(await errorsOf(folder, version, filesOf(broken), true)).toEqual([])
      },
      900_000,
    )

    // One report names all frameworks; each is imported for it.
    let report: Promise<{ stdout: string }> | undefined
    it.each(EXAMPLES)('has $name, which remit-sdk doctor finds', async ({ enforced }) => {
      const bin = join(folder, 'node_modules/.bin/remit-sdk')
      report ??= run(bin, ['doctor'], { cwd: folder, env })

      expect((await report).stdout).toMatch(enforced)
    })

    // Claude Code needs a key of its own.
    it.each(EXAMPLES.filter(({ name }) => name !== 'claude-agent'))(
      'runs $name',
      async ({ name }) => {
        const { stdout } = await run('node', [`${name}.ts`, '40'], { cwd: folder, env })

        expect(stdout).toContain('Paid 40 USD')
      },
    )
  })
})
