import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

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
export function importsBelow(folder: string): ReadonlySet<string> {
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
