import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '../../..')
const run = promisify(execFile)
const temp = mkdtempSync(join(tmpdir(), 'remit-packed-'))

/** Names that only commercial packages and their folders have. */
const forbidden = [
  ...readFileSync(join(root, 'LICENSE'), 'utf8').matchAll(/^ +packages\/([a-z-]+)\/$/gm),
].flatMap(([, name]) => [`@remit/${name}`, `packages/${name}`, `+${name}@`])

interface Packed {
  readonly manifest: { readonly name: string; readonly license: string }
  readonly manifestText: string
  /** Content by path inside the package. */
  readonly files: ReadonlyMap<string, string>
}
const packed: Packed[] = []

beforeAll(async () => {
  await run('node', [join(root, 'scripts/pack.ts'), temp], { maxBuffer: 1 << 24 })
  for (const tarball of readdirSync(temp).filter((name) => name.endsWith('.tgz')))
    packed.push(await unpack(join(temp, tarball)))
}, 180_000)

afterAll(() => rmSync(temp, { recursive: true, force: true }))

describe('the open packages as they would be published', () => {
  test('are the contract, the core, the SDK and the verifier', () => {
    const names = packed.map(({ manifest }) => manifest.name)

    expect(names.toSorted((one, other) => (one < other ? -1 : 1))).toEqual([
      '@remit/contract',
      '@remit/core',
      '@remit/sdk',
      '@remit/verify',
    ])
  })

  test('carry their licence in full', () => {
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

  test('contain the code that is run and the source it was made from, but no tests', () => {
    for (const { manifest, files } of packed) {
      const paths = [...files.keys()]

      expect(paths, manifest.name).toEqual(
        expect.arrayContaining(['README.md', 'dist/index.js', 'dist/index.d.ts', 'src/index.ts']),
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
    const { stdout } = await run('node', [
      join(temp, 'remit-verify', bin['remit-verify']!),
      '--help',
    ])

    expect(dependencies).toBeUndefined()
    expect(stdout).toMatch(/^usage: remit-verify EXPORT/)
  })

  test('ask for nothing that only this workspace can resolve', () => {
    for (const { manifestText } of packed) expect(manifestText).not.toMatch(/workspace:|catalog:/)
  })
})

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
  return { manifest: JSON.parse(manifestText) as Packed['manifest'], manifestText, files }
}
