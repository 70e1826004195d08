import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { ROOT, run, workspacePackages } from '../staging.ts'

/**
 * Packs the open packages of an installed tree, as published. `prepack` of each package builds it. The commercial
 * packages are present, so that a leak would show. `publint` and `attw` check each tarball.
 */
export async function packNpm(stage: string, out: string): Promise<void> {
  for (const { name, folder } of await published(stage)) {
    const source = join(stage, folder)
    const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as {
      version: string
    }
    const tarball = join(out, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
    await run('pnpm', ['pack', '--out', tarball], source)
    await checkTarball(tarball)
    // The packages are ES modules for Node: no CommonJS, and no resolution from before `exports`.
    await run('pnpm', ['exec', 'attw', tarball, '--profile', 'esm-only', '--no-emoji'], ROOT)
  }
}

/** Returns the packages of a tree that npm gets. */
export const published = async (stage: string) =>
  (await workspacePackages(stage)).filter((one) => one.tag === 'open' && !one.private)

/**
 * Reports entry points that are missing, mistyped or of the wrong format; any finding is an error.
 */
async function checkTarball(path: string): Promise<void> {
  const tarball = new Uint8Array(await readFile(path)).buffer
  const { messages, pkg } = await publint({ strict: true, pack: { tarball } })
  if (messages.length === 0) return
  const found = messages.map((message) => formatMessage(message, pkg, { color: false }))
  throw new Error(`publint on ${path}:\n  ${found.join('\n  ')}`)
}
