import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../staging.ts'
import { billOfMaterials } from './bill-of-materials.ts'
import { writeOciLayout } from './oci-layout.ts'
import { HOME, writeServerTree } from './server-tree.ts'
import { USER, writeSystemTree } from './system-tree.ts'

/** The image of one edition. */
export interface MadeImage {
  /** Digest of the manifest. */
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
