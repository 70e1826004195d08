import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../staging.ts'
import { HOME } from './server-tree.ts'
import type { SystemPackage } from './system-tree.ts'

interface Component {
  readonly type: string
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly purl?: string
}

/** A software bill of materials in the format of CycloneDX. */
export interface BillOfMaterials {
  readonly components: readonly Component[]
  readonly [member: string]: unknown
}

/**
 * Returns the bill of materials of an image: the packages of the server, the packages of the system
 * and Node.js. Nothing in it depends on the time of the run. Throws if a package in the tree is
 * missing.
 */
export async function billOfMaterials(
  workspace: string,
  root: string,
  system: readonly SystemPackage[],
): Promise<BillOfMaterials> {
  const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--prod']
  const text = await run('pnpm', ['--filter', '@remit/server', 'sbom', ...options], workspace)
  const { serialNumber: _, ...bill } = JSON.parse(text.slice(text.indexOf('{'))) as BillOfMaterials
  const { timestamp: __, ...metadata } = bill['metadata'] as Record<string, unknown>
  const components = [...bill.components, ...system.map(ofSystem), NODE]
  const missing = (await packagesBelow(root)).filter(
    ({ name, version }) =>
      !components.some((known) => nameOf(known) === name && known.version === version),
  )
  if (missing.length > 0)
    throw new Error(
      `not in the bill of materials: ${missing.map(({ name, version }) => `${name}@${version}`).join(', ')}`,
    )
  return { ...bill, metadata, components }
}

const nameOf = ({ group, name }: Component): string => (group ? `${group}/${name}` : name)

const ofSystem = ({ name, version }: SystemPackage): Component => ({
  type: 'library',
  name,
  version,
  purl: `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}`,
})

const NODE: Component = {
  type: 'framework',
  name: 'node',
  version: process.version.slice(1),
  purl: `pkg:generic/node@${process.version.slice(1)}`,
}

/** Returns every package in the tree of the server, from the folders of the package manager. */
async function packagesBelow(root: string): Promise<{ name: string; version: string }[]> {
  const store = join(root, HOME, 'server/node_modules/.pnpm')
  const found = new Map<string, { name: string; version: string }>()
  for (const entry of await readdir(store, { withFileTypes: true })) {
    const inner = join(store, entry.name, 'node_modules')
    for (const folder of entry.isDirectory() ? await folders(inner) : []) {
      const manifest = await readFile(join(folder, 'package.json'), 'utf8').catch(() => null)
      if (manifest === null) continue
      const { name, version } = JSON.parse(manifest) as { name: string; version: string }
      found.set(`${name}@${version}`, { name, version })
    }
  }
  return [...found.values()]
}

/** Returns the folders of packages, links to other packages left out. */
async function folders(modules: string): Promise<string[]> {
  const entries = await readdir(modules, { withFileTypes: true }).catch(() => [])
  const own = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  const found: string[] = []
  for (const { name } of own)
    found.push(
      ...(name.startsWith('@') ? await folders(join(modules, name)) : [join(modules, name)]),
    )
  return found
}
