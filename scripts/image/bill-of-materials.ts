import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from '../staging.ts'
import { dependencyOptions, HOME } from './server-tree.ts'
import type { SystemPackage } from './system-tree.ts'

interface Component {
  readonly type: string
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly purl?: string
  readonly licenses?: readonly { readonly license: { readonly id: string } }[]
}

/** A package in the bundle of the console, as its build lists it. */
interface Bundled {
  readonly name: string
  readonly version: string
  /** Of SPDX. */
  readonly identifier: string | null
}

interface Dependency {
  readonly ref: string
  readonly dependsOn?: readonly string[]
}

/** A software bill of materials in the format of CycloneDX. */
export interface BillOfMaterials {
  readonly components: readonly Component[]
  readonly [member: string]: unknown
}

/**
 * Returns the bill of materials of an image: the packages of the server and of the console, the
 * packages of the system and Node.js. Nothing in it depends on the time of the run. Throws if a
 * package in the tree is missing.
 */
export async function billOfMaterials(
  workspace: string,
  root: string,
  system: readonly SystemPackage[],
): Promise<BillOfMaterials> {
  const format = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application']
  const options = [...format, ...(await dependencyOptions(workspace))]
  const text = await run('pnpm', ['--filter', '@remit/server', 'sbom', ...options], workspace)
  const { serialNumber: _, ...bill } = JSON.parse(text.slice(text.indexOf('{'))) as BillOfMaterials
  const { timestamp: __, ...metadata } = bill['metadata'] as Record<string, unknown>
  const bundled = await bundledIn(root)
  const components = inOrder([
    ...bill.components,
    ...bundled.map(ofConsole),
    ...system.map(ofSystem),
    NODE,
  ])
  const missing = [...(await packagesBelow(root)), ...bundled].filter(
    ({ name, version }) =>
      !components.some((known) => nameOf(known) === name && known.version === version),
  )
  if (missing.length > 0)
    throw new Error(
      `not in the bill of materials: ${missing.map(({ name, version }) => `${name}@${version}`).join(', ')}`,
    )
  const dependencies = inOrder((bill['dependencies'] ?? []) as readonly Dependency[]).map(
    (one) => ({
      ...one,
      ...(one.dependsOn && { dependsOn: one.dependsOn.toSorted() }),
    }),
  )
  return { ...bill, metadata, components, dependencies }
}

/** pnpm lists them in an order that differs between two runs. */
const inOrder = <T extends object>(list: readonly T[]): T[] =>
  list.toSorted((a, b) => compare(JSON.stringify(a), JSON.stringify(b)))

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

const nameOf = ({ group, name }: Component): string => (group ? `${group}/${name}` : name)

/** Returns the packages whose code is in the files of the console. */
async function bundledIn(root: string): Promise<Bundled[]> {
  const text = await readFile(join(root, HOME, 'console/dist/licenses.json'), 'utf8')
  const bundled = JSON.parse(text) as Bundled[]
  if (bundled.length === 0) throw new Error('the build of the console lists no package')
  return bundled
}

function ofConsole({ name, version, identifier }: Bundled): Component {
  const [group, base] = name.startsWith('@') ? name.split('/') : []
  return {
    type: 'library',
    ...(group !== undefined && { group }),
    name: base ?? name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    ...(identifier !== null && { licenses: [{ license: { id: identifier } }] }),
  }
}

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

/** Returns every package in the tree of the server. */
async function packagesBelow(root: string): Promise<{ name: string; version: string }[]> {
  const home = join(root, HOME, 'server/node_modules')
  const paths = await readdir(home, { recursive: true })
  const manifests = paths.filter((path) => MANIFEST.test(path))
  return Promise.all(
    manifests.map(
      async (path) =>
        JSON.parse(await readFile(join(home, path), 'utf8')) as { name: string; version: string },
    ),
  )
}

/** The manifest of a package; some packages have further ones inside. */
const MANIFEST = /^(?:.+\/node_modules\/)?(?:@[^/]+\/)?[^/]+\/package\.json$/
