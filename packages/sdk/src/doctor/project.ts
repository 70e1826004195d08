import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The declared, imported and installed packages of a folder with a `package.json`. */
export interface Project {
  /** Returns true if the manifest names the package. */
  declares(name: string): boolean
  /** Returns true if a source imports the package or one of its sub-paths. */
  imports(name: string): boolean
  /** Returns true if a source imports exactly this. */
  importsModule(specifier: string): boolean
  /** The version in `node_modules`; null where it is not installed. */
  installed(name: string): string | null
}

/** The examination cannot run; the message is for the terminal. */
export class CannotRun extends Error {}

/** Reads a project; null where the folder has no `package.json`. Throws `CannotRun`. */
export function readProject(folder: string): Project | null {
  const path = join(folder, 'package.json')
  if (!existsSync(path)) return null
  const declared = new Set(namesIn(readManifest(path)))
  const imported = importsBelow(folder)
  return {
    declares: (name) => declared.has(name),
    imports: (name) =>
      [...imported].some((specifier) => specifier === name || specifier.startsWith(`${name}/`)),
    importsModule: (specifier) => imported.has(specifier),
    installed: (name) => installedVersion(folder, name),
  }
}

/** The version of a package as a module in the folder would load it. */
export function installedVersion(folder: string, name: string): string | null {
  for (let at = folder; ; at = dirname(at)) {
    const path = join(at, 'node_modules', name, 'package.json')
    if (existsSync(path)) return readManifest(path).version ?? null
    if (dirname(at) === at) return null
  }
}

type Manifest = { readonly version?: string } & Partial<Record<string, object>>

const LISTS = ['dependencies', 'devDependencies', 'optionalDependencies', 'peerDependencies']

const namesIn = (manifest: Manifest): string[] =>
  LISTS.flatMap((list) => Object.keys(manifest[list] ?? {}))

function readManifest(path: string): Manifest {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Manifest
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CannotRun(`${path} cannot be read: ${reason}`)
  }
}

const SOURCE = /\.[cm]?[jt]sx?$|\.(?:vue|svelte|astro)$/
const DECLARATIONS = /\.d\.[cm]?ts$/
/** Of other packages, built, or hidden. */
const SKIPPED = /^(?:node_modules|dist|build|out|coverage|\..*)$/
const MAX_FILES = 20_000
const MAX_BYTES = 2 * 1024 * 1024

/** An import of values at the start of a line: not of types, and not in a comment. */
const STATIC = /^\s*(?:import|export)\s+(?!type\b)(?:[^'"`;]*?\bfrom\s*)?['"]([^'"\n]+)['"]/gm
const DYNAMIC = /^(?!\s*(?:\/\/|\/?\*)).*?\b(?:import|require)\(\s*['"]([^'"\n]+)['"]/gm

/** The modules that a source text imports. */
export const importsOf = (text: string): string[] =>
  [STATIC, DYNAMIC].flatMap((pattern) =>
    [...text.matchAll(pattern)].flatMap(([, name]) => name ?? []),
  )

/** The modules that the sources below a folder import. */
function importsBelow(folder: string): ReadonlySet<string> {
  const found = new Set<string>()
  let files = 0
  const folders = [folder]
  for (let next = folders.pop(); next !== undefined; next = folders.pop()) {
    for (const entry of readdirSync(next, { withFileTypes: true })) {
      const path = join(next, entry.name)
      if (entry.isDirectory()) {
        if (!SKIPPED.test(entry.name)) folders.push(path)
      } else if (entry.isFile() && SOURCE.test(entry.name) && !DECLARATIONS.test(entry.name)) {
        if (++files > MAX_FILES) return found
        if (statSync(path).size <= MAX_BYTES)
          for (const name of importsOf(readFileSync(path, 'utf8'))) found.add(name)
      }
    }
  }
  return found
}
