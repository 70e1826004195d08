import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from '../staging.ts'

/** All that Node.js needs; gcc-12-base has the license of the two libraries of GCC. */
const PACKAGES = ['libc6', 'libgcc-s1', 'libstdc++6', 'gcc-12-base']

const TRIPLET = `${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`

/** User of the process, as in the images of distroless. */
export const USER = 65_532

/** A package of the operating system in the image. */
export interface SystemPackage {
  readonly name: string
  readonly version: string
}

/**
 * Writes the root of a system that runs Node.js and nothing else: no shell, no package manager.
 * The packages come from the Debian of this machine, Node.js is the one that runs this script.
 */
export async function writeSystemTree(root: string): Promise<SystemPackage[]> {
  const downloads = await mkdtemp(join(tmpdir(), 'remit-debs-'))
  try {
    await mkdir(root, { recursive: true })
    await run('apt-get', ['download', ...PACKAGES], downloads)
    const found: SystemPackage[] = []
    for (const file of (await readdir(downloads)).toSorted())
      found.push(await unpack(join(downloads, file), root))
    for (const path of [
      'usr/share/lintian',
      `usr/lib/${TRIPLET}/gconv`,
      `usr/lib/${TRIPLET}/audit`,
    ])
      await rm(join(root, path), { recursive: true, force: true })
    await mkdir(join(root, 'usr/bin'), { recursive: true })
    await cp(process.execPath, join(root, 'usr/bin/node'))
    await writeFile(join(root, 'etc/passwd'), `remit:x:${USER}:${USER}::/data:/sbin/nologin\n`)
    await writeFile(join(root, 'etc/group'), `remit:x:${USER}:\n`)
    for (const folder of ['dev', 'proc', 'sys', 'tmp']) await mkdir(join(root, folder))
    return found
  } finally {
    await rm(downloads, { recursive: true, force: true })
  }
}

/** Unpacks one package; its description stays, for scanners, as in the images of distroless. */
async function unpack(file: string, root: string): Promise<SystemPackage> {
  await run('dpkg-deb', ['--extract', file, root], root)
  const description = await run('dpkg-deb', ['--field', file], root)
  const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(description)?.[1] ?? ''
  const status = join(root, 'var/lib/dpkg/status.d')
  await mkdir(status, { recursive: true })
  await writeFile(join(status, field('Package')), description)
  return { name: field('Package'), version: field('Version') }
}
