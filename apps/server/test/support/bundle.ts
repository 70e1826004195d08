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
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { onDemand } from '@remit/testing/on-demand'
import type { OutputChunk, Plugin } from 'rolldown'
import type { TestProject } from 'vitest/node'
import { present, ROOT, THREADS, withBundledThreads } from './threads.ts'

// Below this package, because what stays outside of the bundle is resolved from there.
const CACHE = join(ROOT, 'apps/server/node_modules/.cache/remit-test')
/** `NODE_COMPILE_CACHE` of a test run. */
const COMPILED = join(ROOT, 'node_modules/.cache/remit-test')
const PACKAGES = ['governance-enterprise', 'identity', 'compliance'] as const
/** Programs that tests start, by their names in the bundle. */
const PROGRAMS: Readonly<Record<string, string>> = {
  main: 'apps/server/src/main.ts',
  cli: 'apps/server/src/cli.ts',
  'mcp-gateway': 'apps/mcp/src/main.ts',
  'watching-server': 'apps/server/test/compliance/watching-server.ts',
  'writer-process': 'packages/core/test/support/writer-process.ts',
  'prune-process': 'packages/core/test/support/prune-process.ts',
  'report-in-process': 'packages/compliance/test/support/report-in-process.ts',
  'asking-process': 'packages/governance-enterprise/test/support/asking-process.ts',
  'asking-server': 'examples/test/mcp/support/asking-server.ts',
  'counting-server': 'examples/test/mcp/support/counting-server.ts',
}
const HOUR_MS = 3600 * 1000

/**
 * Global setup of Vitest: bundles programs and threads from their sources, once per run, when a test needs
 * one. A process loads the bundle in a fourth of the time of 1,500 modules.
 */
export async function setup(project: TestProject): Promise<() => void> {
  const make = async () => stored(await bundle(ROOT, { ...PROGRAMS, ...THREADS }))
  const programs = await onDemand('REMIT_TEST_PROGRAMS', make, (folder) => folder)
  dropOld(CACHE, 24 * HOUR_MS)
  // A file of tests has another name in each run of Vitest, under which Node keeps it compiled.
  for (const version of entriesOf(COMPILED)) dropOld(version, HOUR_MS)
  // In watch mode the sources have changed.
  project.onTestsRerun(programs.forget)
  return programs.close
}

/** Bundles the command line of another checkout; returns the path of the program. */
export async function bundleCommandLine(root: string): Promise<string> {
  const folder = join(root, 'apps/server/bundle')
  write(folder, await bundle(root, { cli: PROGRAMS['cli'] ?? '' }))
  return join(folder, 'cli.js')
}

/** Bundles modules of a checkout, and the packages that the server looks up at run time. */
async function bundle(
  root: string,
  modules: Readonly<Record<string, string>>,
): Promise<OutputChunk[]> {
  const packages = PACKAGES.filter((name) => existsSync(join(root, 'packages', name)))
  const { rolldown } = await import('rolldown')
  const bundled = await rolldown({
    input: {
      ...present(modules, root),
      ...Object.fromEntries(packages.map((name) => [name, `@remit/${name}`])),
    },
    cwd: join(root, 'apps/server'),
    platform: 'node',
    logLevel: 'silent',
    resolve: { conditionNames: ['@remit/source', 'node'] },
    plugins: [nativeOutside, ownUrls, foundInBundle(packages)],
  })
  const { output } = await bundled.generate({
    format: 'esm',
    entryFileNames: '[name].js',
    // Less to read: a twentieth of the computing time of a start. Names stay, for stacks.
    minify: { mangle: false },
  })
  await bundled.close()
  return output.filter((file) => file.type === 'chunk')
}

function write(folder: string, chunks: readonly OutputChunk[]): void {
  mkdirSync(folder, { recursive: true })
  // Without it, Node parses each file first to find out that it is a module.
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  for (const { fileName, code } of chunks) writeFileSync(join(folder, fileName), code)
}

const entriesOf = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : []

function dropOld(folder: string, ageMs: number): void {
  for (const path of entriesOf(folder)) {
    const made = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()
    if (Date.now() - made > ageMs) rmSync(path, { recursive: true, force: true })
  }
}

/** Writes the bundle to a folder that is named for its content; the same bundle is compiled once. */
function stored(chunks: readonly OutputChunk[]): string {
  const text = JSON.stringify(chunks.map(({ fileName, code }) => [fileName, code]))
  const folder = join(CACHE, hash('sha256', text, 'hex').slice(0, 16))
  if (existsSync(folder)) return folder
  const draft = `${folder}.${process.pid}`
  write(draft, chunks)
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

/** Stands for `import.meta.url` of the bundle. */
const HERE = '__bundle_url__'

/** Modules find files beside their sources, and threads in the bundle. */
const ownUrls: Plugin = {
  name: 'own-urls',
  transform(code, id) {
    if (!code.includes('import.meta.url')) return null
    return withBundledThreads(code, id, HERE).replaceAll(
      'import.meta.url',
      JSON.stringify(pathToFileURL(id).href),
    )
  },
  renderChunk: (code) => code.replaceAll(HERE, 'import.meta.url'),
}

/** A package that is looked up at run time is the one in the bundle: there is one core. */
const foundInBundle = (packages: readonly string[]): Plugin => ({
  name: 'found-in-bundle',
  renderChunk(code) {
    if (!code.includes('import.meta.resolve(')) return null
    const files = Object.fromEntries(packages.map((name) => [`@remit/${name}`, `./${name}.js`]))
    // At the end: the first line may be `#!`.
    return `${code.replaceAll('import.meta.resolve(', 'resolveModule(')}
function resolveModule(name) {
  const file = ${JSON.stringify(files)}[name]
  return file === undefined ? import.meta.resolve(name) : new URL(file, import.meta.url).href
}`
  },
})
