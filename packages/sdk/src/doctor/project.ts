import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CannotRun } from './cannot-run.ts'
import { importsBelow } from './imports.ts'

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
