import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { freePort } from '@remit/testing'
import { scratchFolder } from '@remit/testing/pure'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { stringify } from 'yaml'

const SCRIPT = resolve(import.meta.dirname, '../../../scripts/image/pin-bases.ts')
const hasPrograms = ['skopeo', 'docker-registry'].every(
  (name) => spawnSync(name, ['--version']).error === undefined,
)
if (!hasPrograms)
  process.stderr.write('skipped: the digests of base images need skopeo and docker-registry\n')

it('the Dockerfile names all base images by tag and digest', () => {
  const text = readFileSync(resolve(import.meta.dirname, '../../../deploy/Dockerfile'), 'utf8')
  const bases = [...text.matchAll(/^ARG \w+_IMAGE=(.*)$/gm)].map(([, base]) => base)
  expect(bases).toHaveLength(2)
  for (const base of bases) expect(base).toMatch(/^[\w./-]+:[\w.-]+@sha256:[0-9a-f]{64}$/)
  // Each stage begins with one of them.
  expect([...text.matchAll(/^FROM (.*)$/gm)].map(([, from]) => from)).toEqual([
    '${BUILD_IMAGE} AS build',
    '${BASE_IMAGE}',
  ])
})

describe.skipIf(!hasPrograms)('the digests of base images', () => {
  const folder = scratchFolder('bases')
  const file = (name: string) => join(folder, name)
  let registry: ReturnType<typeof spawn>
  let host: string
  beforeAll(async () => {
    const port = await freePort()
    host = `127.0.0.1:${port}`
    const storage = { filesystem: { rootdirectory: file('registry') }, delete: { enabled: true } }
    writeFileSync(file('registry.yml'), stringify({ version: 0.1, storage, http: { addr: host } }))
    registry = spawn('docker-registry', ['serve', file('registry.yml')], { stdio: 'ignore' })
    await vi.waitUntil(
      () =>
        fetch(`http://${host}/v2/`).then(
          (r) => r.ok,
          () => false,
        ),
      {
        timeout: 60_000,
      },
    )
    mkdirSync(file('.config/containers'), { recursive: true })
    writeFileSync(
      file('.config/containers/registries.conf'),
      `[[registry]]\nlocation = "${host}"\ninsecure = true\n`,
    )
    push('first')
  })
  afterAll(async () => {
    const ended = once(registry, 'close')
    registry.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true })
  })

  /** Pushes an image with this text as `base:1`. */
  function push(content: string): void {
    const image = file(`image-${content}`)
    mkdirSync(join(image, 'root'), { recursive: true })
    writeFileSync(join(image, 'root/file'), content)
    const steps: [string, string[]][] = [
      ['umoci', ['init', '--layout', join(image, 'oci')]],
      ['umoci', ['new', '--image', `${join(image, 'oci')}:1`]],
      ['umoci', ['insert', '--image', `${join(image, 'oci')}:1`, join(image, 'root'), '/']],
      [
        'skopeo',
        ['--insecure-policy', 'copy', `oci:${join(image, 'oci')}:1`, `docker://${host}/base:1`],
      ],
    ]
    for (const [command, args] of steps) {
      const { status, stderr } = spawnSync(command, args, { env: environment() })
      expect(`${status} ${stderr.toString()}`).toMatch(/^0 /)
    }
  }
  const environment = () => ({
    ...process.env,
    HOME: folder,
  })
  const pin = (...args: string[]) => {
    const options = { env: environment(), encoding: 'utf8' } as const
    const { status, stderr } = spawnSync(
      process.execPath,
      [SCRIPT, file('Dockerfile'), ...args],
      options,
    )
    return { status, stderr }
  }
  const dockerfile = () => readFileSync(file('Dockerfile'), 'utf8')

  it('are written, checked, and replaced when a tag has another image', () => {
    writeFileSync(file('Dockerfile'), `ARG BASE_IMAGE=${host}/base:1\nFROM \${BASE_IMAGE}\n`)
    expect(pin('--check')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('no digest'),
    })
    expect(pin()).toEqual({ status: 0, stderr: '' })
    const first = dockerfile()
    expect(first).toMatch(
      /^ARG BASE_IMAGE=\S+\/base:1@sha256:[0-9a-f]{64}\nFROM \$\{BASE_IMAGE\}\n$/,
    )
    expect(pin('--check')).toEqual({ status: 0, stderr: '' })

    push('second')
    // The image of before is still there.
    expect(pin('--check')).toEqual({ status: 0, stderr: '' })
    expect(pin().status).toBe(0)
    expect(dockerfile()).not.toBe(first)

    writeFileSync(file('Dockerfile'), first.replace(/sha256:\w+/, `sha256:${'0'.repeat(64)}`))
    expect(pin('--check').status).toBe(1)
  })
})
