import { hash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import type { OutputChunk, Plugin } from 'rolldown'

const ROOM = resolve(import.meta.dirname, '../..')
// Below this package, because what stays outside of the bundle is resolved from there.
const CACHE = join(ROOM, 'node_modules/.cache/remit-test')
const PACKAGES = ['governance-enterprise', 'identity', 'compliance'] as const
const PROGRAMS = ['./src/main.ts', './src/cli.ts', './test/compliance/watching-server.ts']
const DAY_MS = 24 * 3600 * 1000

/**
 * Global setup of Vitest: bundles the programs from their sources, once per run. A process loads the
 * bundle in a fourth of the time of 1,500 modules.
 */
export async function setup(): Promise<void> {
  // Another project of this run has made it.
  if (process.env['REMIT_TEST_PROGRAMS']) return
  const packages = PACKAGES.filter((name) => existsSync(join(ROOM, '../../packages', name)))
  const bundle = await rolldown({
    input: Object.fromEntries(
      [...PROGRAMS, ...packages.map((name) => `@remit/${name}`)].map((module) => [
        /(\w[\w-]*)(?:\.ts)?$/.exec(module)?.[1] ?? module,
        module,
      ]),
    ),
    cwd: ROOM,
    platform: 'node',
    logLevel: 'silent',
    resolve: { conditionNames: ['@remit/source', 'node'] },
    plugins: [nativeOutside, ownUrls, foundInBundle(packages)],
  })
  const { output } = await bundle.generate({ format: 'esm', entryFileNames: '[name].js' })
  await bundle.close()
  process.env['REMIT_TEST_PROGRAMS'] = stored(output.filter((file) => file.type === 'chunk'))
}

/** Writes the bundle to a folder that is named for its content; the same bundle is compiled once. */
function stored(chunks: readonly OutputChunk[]): string {
  const text = JSON.stringify(chunks.map(({ fileName, code }) => [fileName, code]))
  const folder = join(CACHE, hash('sha256', text, 'hex').slice(0, 16))
  if (existsSync(folder)) return folder
  for (const name of existsSync(CACHE) ? readdirSync(CACHE) : []) {
    const old = join(CACHE, name)
    if (Date.now() - statSync(old).mtimeMs > DAY_MS) rmSync(old, { recursive: true, force: true })
  }
  const draft = `${folder}.${process.pid}`
  mkdirSync(draft, { recursive: true })
  for (const { fileName, code } of chunks) writeFileSync(join(draft, fileName), code)
  try {
    renameSync(draft, folder)
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    // Another run was first.
    if (!existsSync(folder)) throw error
  }
  return folder
}

/** It finds its compiled part beside itself. */
const nativeOutside: Plugin = {
  name: 'native-outside',
  resolveId(source, importer) {
    if (source !== 'better-sqlite3' || importer === undefined) return null
    return { id: pathToFileURL(createRequire(importer).resolve(source)).href, external: true }
  },
}

/** Modules find files and threads beside their sources. */
const ownUrls: Plugin = {
  name: 'own-urls',
  transform(code, id) {
    if (!code.includes('import.meta.url')) return null
    return code.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(id).href))
  },
}

/** A package that is looked up at run time is the one in the bundle: there is one core. */
const foundInBundle = (packages: readonly string[]): Plugin => ({
  name: 'found-in-bundle',
  renderChunk(code) {
    if (!code.includes('import.meta.resolve(')) return null
    const files = Object.fromEntries(packages.map((name) => [`@remit/${name}`, `./${name}.js`]))
    return `const resolveModule = (name) => {
  const file = ${JSON.stringify(files)}[name]
  return file === undefined ? import.meta.resolve(name) : new URL(file, import.meta.url).href
}
${code.replaceAll('import.meta.resolve(', 'resolveModule(')}`
  },
})
