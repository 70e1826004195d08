import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** One layer: the content of a folder, owned by one user. */
export interface Layer {
  readonly folder: string
  readonly owner: number
  /** Describes the layer in the history of the image. */
  readonly about: string
}

export interface ImageOptions {
  /** Time of all files and of the image, in seconds. */
  readonly epoch: number
  readonly architecture: 'amd64' | 'arm64'
  /** Version, as the name of the reference. */
  readonly tag: string
  /** The `config` of the image (https://github.com/opencontainers/image-spec/blob/v1.1.1/config.md). */
  readonly config: Readonly<Record<string, unknown>>
}

interface Descriptor {
  readonly mediaType: string
  readonly digest: string
  readonly size: number
}

const TYPE = 'application/vnd.oci.image'

/**
 * Writes an image in the OCI layout of version 1.1. The same folders and options give the same
 * bytes: times, owners, modes and the order of files do not come from the file system. Returns the
 * digest of the manifest.
 */
export async function writeOciLayout(
  out: string,
  layers: readonly Layer[],
  { epoch, architecture, tag, config }: ImageOptions,
): Promise<string> {
  await mkdir(join(out, 'blobs/sha256'), { recursive: true })
  const created = new Date(epoch * 1000).toISOString()
  const written = []
  for (const layer of layers) written.push(await writeLayer(out, layer, epoch))
  const about = await writeJson(out, `${TYPE}.config.v1+json`, {
    created,
    architecture,
    os: 'linux',
    config,
    rootfs: { type: 'layers', diff_ids: written.map(({ content }) => content) },
    history: layers.map((layer) => ({ created, created_by: layer.about })),
  })
  const manifest = await writeJson(out, `${TYPE}.manifest.v1+json`, {
    schemaVersion: 2,
    mediaType: `${TYPE}.manifest.v1+json`,
    config: about,
    layers: written.map(({ descriptor }) => descriptor),
  })
  const annotations = { 'org.opencontainers.image.ref.name': tag }
  const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] }
  await writeFile(join(out, 'index.json'), JSON.stringify(index))
  await writeFile(join(out, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }))
  return manifest.digest
}

/** Writes a compressed tar archive; `content` is the digest of the archive itself. */
async function writeLayer(
  out: string,
  { folder, owner }: Layer,
  epoch: number,
): Promise<{ descriptor: Descriptor; content: string }> {
  const content = createHash('sha256')
  const draft = join(out, 'blobs/sha256/draft')
  await pipeline(
    tarOf(folder, { epoch, owner }),
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        content.update(chunk)
        yield chunk
      }
    },
    createGzip(),
    createWriteStream(draft),
  )
  const compressed = createHash('sha256')
  await pipeline(createReadStream(draft), compressed)
  const digest = compressed.digest('hex')
  const { size } = await stat(draft)
  await rename(draft, join(out, 'blobs/sha256', digest))
  return {
    descriptor: { mediaType: `${TYPE}.layer.v1.tar+gzip`, digest: `sha256:${digest}`, size },
    content: `sha256:${content.digest('hex')}`,
  }
}

/**
 * Yields a tar archive of `path` in a folder. The same files give the same bytes. Throws if tar fails.
 */
export async function* tarOf(
  folder: string,
  { epoch, owner = 0, path = '.' }: { epoch: number; owner?: number; path?: string },
): AsyncGenerator<Buffer> {
  const options = [
    '--create',
    '--format=posix',
    '--pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime',
    '--sort=name',
    `--mtime=@${epoch}`,
    '--numeric-owner',
    `--owner=${owner}`,
    `--group=${owner}`,
    // Neither the umask nor the links of a package store are part of an archive.
    '--mode=u=rwX,go=rX',
    '--hard-dereference',
  ]
  const tar = spawn('tar', [...options, '--directory', folder, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, LC_ALL: 'C' },
  })
  const ended = once(tar, 'close') as Promise<[number | null]>
  for await (const chunk of tar.stdout) yield chunk as Buffer
  if ((await ended)[0] !== 0) throw new Error(`tar of ${folder} failed`)
}

async function writeJson(out: string, mediaType: string, value: unknown): Promise<Descriptor> {
  const text = JSON.stringify(value)
  const digest = createHash('sha256').update(text).digest('hex')
  await writeFile(join(out, 'blobs/sha256', digest), text)
  return { mediaType, digest: `sha256:${digest}`, size: Buffer.byteLength(text) }
}
