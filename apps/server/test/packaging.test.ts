import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { inFullRun, isCompleteRun, packedOnce } from '@remit/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const run = promisify(execFile)
const temp = mkdtempSync(join(tmpdir(), 'remit-packed-'))

/** Names that only commercial packages and their folders have. */
const forbidden = [
  ...readFileSync(join(root, 'LICENSE'), 'utf8').matchAll(/^ +packages\/([a-z-]+)\/$/gm),
].flatMap(([, name]) => [`@remit/${name}`, `packages/${name}`, `+${name}@`])

/** Each manager of packages with a compiler. */
const MANAGERS = [
  ['pnpm', '7'],
  ['npm', '5.9'],
] as const

/** The library check is not skipped: types that a consumer lacks would show. */
const TSCONFIG = {
  compilerOptions: {
    target: 'es2024',
    module: 'nodenext',
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    types: ['node'],
  },
  include: ['src'],
}

const ENTRIES = `
import { createClient } from '@remit/contract'
import { createRemit } from '@remit/core/server'
import { createGate } from '@remit/sdk'
import { verifyExport } from '@remit/verify'
console.log([createClient, createRemit, createGate, verifyExport].map((entry) => typeof entry).join())
`

interface Packed {
  readonly folder: string
  readonly manifest: { readonly name: string; readonly license: string; readonly exports: object }
  readonly manifestText: string
  /** Content by path inside the package. */
  readonly files: ReadonlyMap<string, string>
}
/** The paths in the exports of a manifest. */
const textsIn = (value: object | string): string[] =>
  typeof value === 'string' ? [value] : Object.values(value).flatMap(textsIn)

const packed: Packed[] = []
let tarballs: readonly string[] = []

const canPack = inFullRun('packing and installing the packages')
beforeAll(async () => {
  if (!canPack) return
  tarballs = tarballsIn(await packedOnce())
  for (const tarball of tarballs) packed.push(await unpack(tarball))
}, 600_000)

afterAll(() => rmSync(temp, { recursive: true, force: true }))

describe.skipIf(!canPack)('the open packages as they would be published', () => {
  test('are the contract, the core, the gateway, the SDK and the verifier', () => {
    const names = packed.map(({ manifest }) => manifest.name)

    expect(names.toSorted((one, other) => (one < other ? -1 : 1))).toEqual([
      '@remit/contract',
      '@remit/core',
      '@remit/mcp',
      '@remit/sdk',
      '@remit/verify',
    ])
  })

  test('name the helpers of tests nowhere', () => {
    const leaks = packed.flatMap(({ manifest, manifestText, files }) =>
      [['package.json', manifestText] as const, ...files]
        .filter(([, text]) => /@remit\/testing|packages\/testing/.test(text))
        .map(([path]) => `${manifest.name}: ${path}`),
    )

    expect(leaks).toEqual([])
  })

  test('carry their license in full', () => {
    const apache = readFileSync(join(root, 'packages/contract/LICENSE'), 'utf8')

    for (const { manifest, files } of packed) {
      expect(manifest.license, manifest.name).toBe('Apache-2.0')
      expect(files.get('LICENSE'), manifest.name).toBe(apache)
    }
  })

  test('contain no file and no name of a commercial package', () => {
    expect(forbidden.length).toBeGreaterThan(0)
    const leaks = packed.flatMap(({ manifest, files }) =>
      [...files]
        .filter(([path, text]) => forbidden.some((name) => `${path}\n${text}`.includes(name)))
        .map(([path]) => `${manifest.name}: ${path}`),
    )

    expect(leaks).toEqual([])
  })

  test('contain all that they export, as code that is run and as its source, but no tests', () => {
    for (const { manifest, files } of packed) {
      const paths = [...files.keys()]

      expect(paths, manifest.name).toEqual(
        expect.arrayContaining([
          'README.md',
          ...textsIn(manifest.exports).map((file) => file.slice(2)),
        ]),
      )
      expect(paths.filter((path) => /\.test\.|\.tsbuildinfo$|^test\//.test(path))).toEqual([])
    }
  })

  test('bring the weights of the guard', () => {
    const core = packed.find(({ manifest }) => manifest.name === '@remit/core')

    expect(core?.files.has('weights/guard.bin')).toBe(true)
  })

  test('the verifier runs from its package alone', async () => {
    const verifier = packed.find(({ manifest }) => manifest.name === '@remit/verify')
    const { bin, dependencies } = JSON.parse(verifier?.manifestText ?? '{}') as {
      bin: Record<string, string>
      dependencies?: object
    }
    const { stdout } = await run('node', [join(verifier!.folder, bin['remit-verify']!), '--help'])

    expect(dependencies).toBeUndefined()
    expect(stdout).toMatch(/^usage: remit-verify EXPORT/)
  })

  test('ask for nothing that only this workspace can resolve', () => {
    for (const { manifestText } of packed) expect(manifestText).not.toMatch(/workspace:|catalog:/)
  })
})

describe.skipIf(!canPack)('the files of a release', () => {
  test('have the digests of SHA256SUMS and of the provenance, which names the commit', async () => {
    const folder = await packedOnce()
    const { stdout } = await run('sha256sum', ['--check', 'SHA256SUMS'], { cwd: folder })
    const text = readFileSync(join(folder, 'provenance.json'), 'utf8')
    const { subject, predicate } = JSON.parse(text) as {
      subject: { name: string; digest: { sha256: string } }[]
      predicate: {
        buildDefinition: { resolvedDependencies: { uri: string; digest?: { gitCommit: string } }[] }
      }
    }
    const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trimEnd().split('\n')
    const files = readdirSync(folder).filter((name) => !/^(SHA256SUMS|outcome)$/.test(name))
    const [source] = predicate.buildDefinition.resolvedDependencies

    expect(stdout.match(/: OK$/gm)).toHaveLength(files.length)
    expect([...sums].toSorted()).toEqual(
      expect.arrayContaining(subject.map(({ name, digest }) => `${digest.sha256}  ${name}`)),
    )
    expect(subject.map(({ name }) => name)).toEqual(
      files.filter((name) => name !== 'provenance.json').toSorted(),
    )
    const { gitCommit = '' } = source?.digest ?? {}
    if (gitCommit !== '')
      await run('git', ['-c', 'safe.directory=*', 'cat-file', '-e', gitCommit], { cwd: root })
    expect(gitCommit !== '').toBe(existsSync(join(root, '.git')))
  })

  test('have the chart in the form that Helm reads', async () => {
    const chart = readdirSync(await packedOnce()).find((name) => name.includes('-chart-')) ?? ''
    const { stdout } = await run('tar', ['-tzf', join(await packedOnce(), chart)])

    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining(['remit/Chart.yaml', 'remit/values.yaml']),
    )
  })

  test('are refused in a folder that has others', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'remit-full-'))
    writeFileSync(join(folder, 'old.tgz'), '')
    const packing = run('node', [join(root, 'scripts/release.ts'), folder])

    await expect(packing).rejects.toThrow(/name an empty folder/)
    rmSync(folder, { recursive: true })
  })

  test('need no pnpm on the PATH, and say what is missing', async () => {
    const bin = mkdtempSync(join(tmpdir(), 'remit-bin-'))
    symlinkSync(process.execPath, join(bin, 'node'))
    const script = `const { providePnpm, run } = await import(process.argv[1])
providePnpm()
console.log(await run('pnpm', ['--version'], '.'))`
    const versionWith = (path: string) =>
      run(
        join(bin, 'node'),
        ['--input-type=module', '-e', script, join(root, 'scripts/staging.ts')],
        {
          cwd: bin,
          env: { ...process.env, PATH: path },
        },
      )
    await expect(versionWith(bin)).rejects.toThrow(/pnpm 12 is needed: install it, or npx/)
    const { stdout: npx } = await run('sh', ['-c', 'readlink -f "$(command -v npx)"'])
    symlinkSync(npx.trim(), join(bin, 'npx'))

    expect((await versionWith(`${bin}:/usr/bin:/bin`)).stdout).toMatch(/^12\./)
    rmSync(bin, { recursive: true })
  }, 300_000)
})

describe.skipIf(!canPack)('the packed packages in an empty folder', () => {
  test.each(isCompleteRun ? MANAGERS : MANAGERS.slice(0, 1))(
    'install with %s, compile under TypeScript %s, and run the examples',
    async (manager, version) => {
      const cwd = join(temp, `with-${manager}`)
      prepare(cwd, version)
      const here = { cwd, maxBuffer: 1 << 24 }
      const quiet = manager === 'npm' ? ['--no-audit', '--no-fund'] : []
      await run(manager, ['install', '--prefer-offline', ...quiet], here)
      await run('node', ['node_modules/typescript/bin/tsc', '-p', '.'], here)
      const output = async (example: string, ...args: string[]) =>
        (await run('node', [`src/${example}`, ...args], here)).stdout

      expect(await output('entries.ts')).toBe('function,function,function,function\n')
      expect(await output('check-text.ts')).toMatch(/^block \(score/)
      expect(await output('score-list.ts')).toMatch(/^pass rate: 0\.5$/m)
      expect(await output('keep-ledger.ts', cwd)).toMatch(/^ok: \d+ entries$/m)
    },
    600_000,
  )
})

const tarballsIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith('.tgz') && !name.startsWith('remit-chart-'))
    .map((name) => join(folder, name))

async function unpack(tarball: string): Promise<Packed> {
  const folder = join(temp, basename(tarball, '.tgz'))
  mkdirSync(folder)
  await run('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'])
  const files = new Map<string, string>()
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile()) files.set(relative(folder, path), readFileSync(path, 'utf8'))
  }
  const manifestText = files.get('package.json') ?? ''
  return { folder, manifest: JSON.parse(manifestText) as Packed['manifest'], manifestText, files }
}

/** A project that depends on the tarballs, with the examples as its source. */
function prepare(folder: string, typescript: string): void {
  mkdirSync(folder)
  cpSync(join(root, 'examples/library'), join(folder, 'src'), { recursive: true })
  writeFileSync(join(folder, 'src/entries.ts'), ENTRIES)
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(TSCONFIG))
  const packages = Object.fromEntries(
    tarballs.map((path) => [`@remit/${/remit-(\w+)-[^/]+\.tgz$/.exec(path)![1]}`, `file:${path}`]),
  )
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({
      type: 'module',
      private: true,
      dependencies: packages,
      devDependencies: { '@types/node': '24', typescript },
      // The packages depend on each other's version, which no registry has yet.
      overrides: packages,
    }),
  )
  writeFileSync(
    join(folder, 'pnpm-workspace.yaml'),
    `packages: []\nallowBuilds:\n  better-sqlite3: true\noverrides: ${JSON.stringify(packages)}\n`,
  )
}
