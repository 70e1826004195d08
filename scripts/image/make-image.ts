import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT, run } from '../staging.ts'
import { writeOciLayout } from './oci-layout.ts'
import { dependencyOptions, HOME, packageFolders, writeServerTree } from './server-tree.ts'
import { USER, writeSystemTree } from './system-tree.ts'
import type { SystemPackage } from './system-tree.ts'

export interface MadeImage {
  readonly digest: string
  readonly tag: string
}

/**
 * Makes the image of a built workspace: `<out>/image` in the OCI layout and `<out>/sbom.cdx.json`.
 * The same sources and the same packages of Debian give the same digest.
 */
export async function makeImage(workspace: string, out: string): Promise<MadeImage> {
  const work = await mkdtemp(join(tmpdir(), 'remit-image-'))
  try {
    const [system, server, data] = ['system', 'server', 'data'].map((name) => join(work, name))
    if (!system || !server || !data) throw new Error('unreachable')
    const packages = await writeSystemTree(system)
    await writeServerTree(workspace, server)
    const bill = await billOfMaterials(workspace, server, packages)
    const text = `${JSON.stringify(bill, null, 2)}\n`
    await writeFile(join(server, HOME, 'sbom.cdx.json'), text)
    await mkdir(join(data, 'data'), { recursive: true })
    await mkdir(out, { recursive: true })
    await writeFile(join(out, 'sbom.cdx.json'), text)
    const manifest = await readFile(join(workspace, 'apps/server/package.json'), 'utf8')
    const { version: tag } = JSON.parse(manifest) as { version: string }
    const layers = [
      { folder: system, owner: 0, about: 'Debian and Node.js' },
      { folder: server, owner: 0, about: 'Remit' },
      { folder: data, owner: USER, about: 'folder of the database' },
    ]
    const digest = await writeOciLayout(join(out, 'image'), layers, {
      epoch: await sourceEpoch(),
      architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      tag,
      config: configOf(tag),
    })
    return { digest, tag }
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

const configOf = (version: string) => ({
  User: `${USER}:${USER}`,
  WorkingDir: '/data',
  Entrypoint: [
    '/usr/bin/node',
    '--min-semi-space-size=32',
    '--v8-pool-size=1',
    `/${HOME}/server/dist/cli.js`,
  ],
  Cmd: ['serve'],
  Env: [
    'PATH=/usr/bin',
    'NODE_ENV=production',
    'REMIT_HOST=0.0.0.0',
    'REMIT_DATABASE_URL=sqlite:/data/remit.db',
  ],
  ExposedPorts: { '8080/tcp': {} },
  Volumes: { '/data': {} },
  StopSignal: 'SIGTERM',
  Labels: {
    'org.opencontainers.image.title': 'Remit',
    'org.opencontainers.image.description':
      'Authorization API and tamper-evident audit ledger for AI agents',
    'org.opencontainers.image.version': version,
  },
})

/** `SOURCE_DATE_EPOCH`, or the time of the commit (https://reproducible-builds.org/specs/source-date-epoch). */
export async function sourceEpoch(): Promise<number> {
  const given = process.env['SOURCE_DATE_EPOCH']
  if (given !== undefined && /^\d+$/.test(given)) return Number(given)
  const show = ['-c', 'safe.directory=*', 'log', '-1', '--format=%ct']
  const { stdout } = await promisify(execFile)('git', show, { cwd: ROOT }).catch(() => ({
    stdout: '0',
  }))
  return Number(stdout.trim())
}

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
interface BillOfMaterials {
  readonly components: readonly Component[]
  readonly [member: string]: unknown
}

/**
 * Returns the bill of materials of an image: the packages of the server and of the console, the
 * packages of the system and Node.js. Nothing in it depends on the time of the run. Throws if a
 * package in the tree is missing.
 */
async function billOfMaterials(
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
  const folders = await packageFolders(join(root, HOME, 'server'))
  return Promise.all(
    folders.map(
      async (folder) =>
        JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
          name: string
          version: string
        },
    ),
  )
}
