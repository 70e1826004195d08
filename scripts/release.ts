/**
 * `pnpm release:pack <folder> [--only npm,python,chart,image]`: makes the files of a release of the working
 * tree in an empty folder: the packages of npm, the wheel and the source of the Python package, the Helm chart,
 * the container images with their bills of materials, `provenance.json` and `SHA256SUMS`. They are built in a
 * fresh copy of the tree, so that no remains in `dist/` are included. The images need a Debian with apt.
 */
import { createWriteStream } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { createGzip } from 'node:zlib'
import { makeImage, sourceEpoch } from './image/make-image.ts'
import { tarOf } from './image/oci-layout.ts'
import { packNpm, published } from './release/pack-npm.ts'
import { sourceOf, writeStatement } from './release/statement.ts'
import type { Subject } from './release/statement.ts'
import { build, install, run, stageWorkingTree, workspacePackages } from './staging.ts'

/** Makes release files of the fresh copy `stage`; each returns contents that are no files. */
const PARTS: Record<
  string,
  (stage: string, out: string, version: string) => Promise<readonly Subject[] | void>
> = { npm: packNpm, python: packPython, chart: packChart, image: packImages }

const { values, positionals } = parseArgs({
  options: { only: { type: 'string', default: Object.keys(PARTS).join() } },
  allowPositionals: true,
})
const [folder] = positionals
const parts = values.only.split(',')
if (folder === undefined || parts.some((name) => !(name in PARTS))) {
  console.error(`usage: pnpm release:pack <folder> [--only ${Object.keys(PARTS).join()}]`)
  process.exit(2)
}
const out = resolve(folder)
const work = await mkdtemp(join(tmpdir(), 'remit-release-'))
try {
  await mkdir(out, { recursive: true })
  if ((await readdir(out)).length > 0)
    throw new Error(`${out} has files, which the checksums would include: name an empty folder`)
  const source = await sourceOf()
  process.env['SOURCE_DATE_EPOCH'] ??= String(await sourceEpoch())
  const stage = join(work, 'stage')
  await stageWorkingTree(stage)
  const version = await commonVersion(stage)
  if (process.env['GITHUB_REF_TYPE'] === 'tag') {
    const tag = process.env['GITHUB_REF_NAME']
    if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, and the version ${version}`)
    if (source.modified) throw new Error('the files differ from the commit of the tag')
  }
  await install(stage)
  const subjects: Subject[] = []
  for (const name of parts) subjects.push(...((await PARTS[name]?.(stage, out, version)) ?? []))
  await writeStatement(out, source, { parts, subjects })
  for (const name of (await readdir(out)).toSorted()) console.log(join(folder, name))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await rm(work, { recursive: true, force: true })
}

/** Returns the one version of everything in a release. Throws if versions differ, or an SDK is left out. */
async function commonVersion(stage: string): Promise<string> {
  const sdks = (await readdir(join(stage, 'sdks'))).filter((name) => name !== 'python')
  if (sdks.length > 0) throw new Error(`the release has no files of sdks/${sdks.join(', sdks/')}`)
  const found: [path: string, version: string | undefined][] = []
  const note = async (path: string, pattern: RegExp) =>
    found.push([path, pattern.exec(await readFile(join(stage, path), 'utf8'))?.[1]])
  for (const { folder: at } of await published(stage))
    await note(`${at}/package.json`, /"version": "(.+)"/)
  await note('sdks/python/pyproject.toml', /^version = "(.+)"$/m)
  await note('deploy/helm/remit/Chart.yaml', /^version: (.+)$/m)
  await note('deploy/helm/remit/Chart.yaml', /^appVersion: (.+)$/m)
  const [[, version] = []] = found
  if (version === undefined || found.some(([, other]) => other !== version))
    throw new Error(
      `versions differ:\n  ${found.map(([path, one]) => `${one} ${path}`).join('\n  ')}`,
    )
  return version
}

/** A wheel and a source archive, by the build front end of PyPA. */
async function packPython(stage: string, target: string): Promise<void> {
  const tools = join(work, 'python')
  await run('python3', ['-m', 'venv', tools], work)
  const python = join(tools, 'bin/python')
  await run(python, ['-m', 'pip', 'install', '--quiet', 'build>=1.2,<2', 'setuptools>=77'], work)
  const options = ['--no-isolation', '--outdir', target]
  await run(python, ['-m', 'build', ...options, join(stage, 'sdks/python')], work)
}

/** `helm install remit remit-chart-<version>.tgz` takes it. */
async function packChart(stage: string, target: string, version: string): Promise<void> {
  await pipeline(
    tarOf(join(stage, 'deploy/helm'), { epoch: epoch(), path: 'remit' }),
    createGzip(),
    createWriteStream(join(target, `remit-chart-${version}.tgz`)),
  )
}

/** The images of the editions, in archives of the OCI layout, and their bills of materials. */
async function packImages(stage: string, target: string, version: string): Promise<Subject[]> {
  const commercial = (await workspacePackages(stage)).filter(({ tag }) => tag === 'commercial')
  const trees = [{ name: 'remit-image', tree: stage }]
  if (commercial.length > 0) {
    const tree = join(work, 'community')
    await stageWorkingTree(
      tree,
      commercial.map((one) => one.folder),
    )
    await install(tree)
    trees.push({ name: 'remit-community-image', tree })
  }
  const subjects: Subject[] = []
  for (const { name, tree } of trees) {
    const made = join(work, name)
    await build(tree)
    const { digest } = await makeImage(tree, made)
    const file = join(target, `${name}-${version}-${process.arch === 'arm64' ? 'arm64' : 'amd64'}`)
    await pipeline(tarOf(join(made, 'image'), { epoch: epoch() }), createWriteStream(`${file}.tar`))
    await copyFile(join(made, 'sbom.cdx.json'), `${file}.cdx.json`)
    subjects.push({
      name: `${name}:${version}`,
      digest: { sha256: digest.replace('sha256:', '') },
    })
  }
  return subjects
}

function epoch(): number {
  return Number(process.env['SOURCE_DATE_EPOCH'])
}
