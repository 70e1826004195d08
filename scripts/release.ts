/**
 * `pnpm release:pack <folder> [--only npm,python,chart,image]`: makes the files of a release of the working
 * tree in an empty folder: the packages of npm, the wheel and the source of the Python package, the Helm chart,
 * the container images with their bills of materials, `provenance.json` and `SHA256SUMS`. They are built in a
 * fresh copy of the tree, so that no remains in `dist/` are included. The images need a Debian with apt.
 */
import { createWriteStream, createReadStream } from 'node:fs'
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs, promisify } from 'node:util'
import { createGzip } from 'node:zlib'
import { makeImage, sourceEpoch } from './image/make-image.ts'
import { tarOf } from './image/oci-layout.ts'
import { build, install, run, stageWorkingTree, workspacePackages, ROOT } from './staging.ts'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'

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
  await writeStatement(out, source, subjects)
  for (const name of (await readdir(out)).toSorted()) console.log(join(folder, name))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await rm(work, { recursive: true, force: true })
}

/** Returns the one version of everything in a release. Throws if versions differ, or an SDK is left out. */
async function commonVersion(stage: string): Promise<string> {
  // A Go module has no files: the tag `sdks/go/v<version>` of the repository publishes it.
  const sdks = (await readdir(join(stage, 'sdks'))).filter(
    (name) => !['go', 'python'].includes(name),
  )
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

/**
 * Packs the open packages of an installed tree, as published. `prepack` of each package builds it. The commercial
 * packages are present, so that a leak would show. `publint` and `attw` check each tarball.
 */
async function packNpm(stage: string, target: string): Promise<void> {
  for (const { name, folder: at } of await published(stage)) {
    const source = join(stage, at)
    const { version } = JSON.parse(await readFile(join(source, 'package.json'), 'utf8')) as {
      version: string
    }
    const tarball = join(target, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)
    await run('pnpm', ['pack', '--out', tarball], source)
    await checkTarball(tarball)
    // The packages are ES modules for Node: no CommonJS, and no resolution from before `exports`.
    await run('pnpm', ['exec', 'attw', tarball, '--profile', 'esm-only', '--no-emoji'], ROOT)
  }
}

/** Returns the packages of a tree that npm gets. */
async function published(stage: string) {
  return (await workspacePackages(stage)).filter((one) => one.tag === 'open' && !one.private)
}

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

interface Source {
  readonly repository: string
  /** Of the commit; null outside of a git repository. */
  readonly commit: string | null
  /** The files differ from the commit. */
  readonly modified: boolean
}

/** A content that is no file of the release, such as an image in an archive. */
interface Subject {
  readonly name: string
  readonly digest: { readonly sha256: string }
}

/**
 * Writes `provenance.json`, an in-toto statement with the provenance of all files in the folder
 * (https://slsa.dev/spec/v1.0/provenance), and `SHA256SUMS` of them all. Nothing in them depends on the
 * time of the run. The statement is not signed: the release workflow has GitHub attest the files.
 */
async function writeStatement(
  target: string,
  source: Source,
  subjects: readonly Subject[],
): Promise<void> {
  const files = (await readdir(target)).toSorted()
  const digests = await Promise.all(files.map((name) => sha256(join(target, name))))
  const described = files.map((name, at) => ({ name, digest: { sha256: digests[at] } }))
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...described, ...subjects],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: `${source.repository}/blob/main/docs/install.md#provenance`,
        externalParameters: { command: 'pnpm release:pack', parts },
        resolvedDependencies: [
          {
            uri: `git+${source.repository}`,
            ...(source.commit !== null && { digest: { gitCommit: source.commit } }),
            annotations: { modified: source.modified },
          },
          { uri: `pkg:generic/node@${process.version.slice(1)}` },
        ],
      },
      runDetails: builder(source.repository),
    },
  }
  await writeFile(join(target, 'provenance.json'), `${JSON.stringify(statement, null, 2)}\n`)
  const lines = await Promise.all(
    [...files, 'provenance.json'].map(
      async (name) => `${await sha256(join(target, name))}  ${name}\n`,
    ),
  )
  await writeFile(join(target, 'SHA256SUMS'), lines.join(''))
}

/** The workflow of GitHub, or a machine that nobody vouches for. */
function builder(repository: string) {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name, GITHUB_RUN_ID: id } = process.env
  if (id === undefined) return { builder: { id: `${repository}/blob/main/scripts/release.ts` } }
  const attempt = process.env['GITHUB_RUN_ATTEMPT'] ?? '1'
  return {
    builder: { id: `${server}/${process.env['GITHUB_WORKFLOW_REF']}` },
    metadata: { invocationId: `${server}/${name}/actions/runs/${id}/attempts/${attempt}` },
  }
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Reads the state of the sources of this checkout. */
async function sourceOf(): Promise<Source> {
  const manifest = await readFile(join(ROOT, 'packages/contract/package.json'), 'utf8')
  const { repository } = JSON.parse(manifest) as { repository: { url: string } }
  const git = async (...args: string[]) =>
    (await promisify(execFile)('git', ['-c', 'safe.directory=*', ...args], { cwd: ROOT })).stdout
  const commit = await git('rev-parse', 'HEAD').catch(() => null)
  return {
    repository: repository.url.replace(/^git\+|\.git$/g, ''),
    commit: commit?.trim() ?? null,
    modified: commit === null || (await git('status', '--porcelain')) !== '',
  }
}
