import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

export const ROOT: string = resolve(import.meta.dirname, '../../../..')

/** Modules that run in threads, or are loaded by one, by their name in the bundle. */
export const THREADS: Readonly<Record<string, string>> = {
  'thread-priority': 'packages/core/src/threads/low-priority.ts',
  'thread-core': 'packages/core/src/worker.ts',
  'thread-trial': 'packages/governance-enterprise/src/rule-trial/trial.ts',
  'thread-ledger': 'packages/compliance/src/worker/worker.ts',
}

/** Returns the absolute paths of the modules that are there: a commercial package may be absent. */
export const present = (
  modules: Readonly<Record<string, string>>,
  root: string,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(modules)
      .map(([name, path]) => [name, join(root, path)] as const)
      .filter(([, path]) => existsSync(path)),
  )

const NAMES = new Map(Object.entries(present(THREADS, ROOT)).map(([name, path]) => [path, name]))

/**
 * Returns the code of the module `id` with the threads that it starts taken from the bundle: a thread
 * loads a bundle in a tenth of the time of its sources. `folder` is an expression for the URL of the
 * bundle's folder.
 */
export const withBundledThreads = (code: string, id: string, folder: string): string =>
  code.replaceAll(
    /siblingModule\(\s*import\.meta\.url,\s*['"]([^'"]+)['"],?\s*\)/g,
    (call, name: string) => {
      const thread = NAMES.get(join(dirname(id), `${name}.ts`))
      return thread === undefined ? call : `new URL('${thread}.js', ${folder})`
    },
  )
