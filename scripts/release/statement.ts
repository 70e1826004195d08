import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { ROOT } from '../staging.ts'

interface Source {
  readonly repository: string
  /** Of the commit; null outside of a git repository. */
  readonly commit: string | null
  /** The files differ from the commit. */
  readonly modified: boolean
}

/** A content that is no file of the release, such as an image in an archive. */
export interface Subject {
  readonly name: string
  readonly digest: { readonly sha256: string }
}

/**
 * Writes `provenance.json`, an in-toto statement with the provenance of all files in the folder
 * (https://slsa.dev/spec/v1.0/provenance), and `SHA256SUMS` of them all. Nothing in them depends on the
 * time of the run. The statement is not signed: the release workflow has GitHub attest the files.
 */
export async function writeStatement(
  out: string,
  source: Source,
  { parts, subjects }: { parts: readonly string[]; subjects: readonly Subject[] },
): Promise<void> {
  const files = (await readdir(out)).toSorted()
  const digests = await Promise.all(files.map((name) => sha256(join(out, name))))
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
  await writeFile(join(out, 'provenance.json'), `${JSON.stringify(statement, null, 2)}\n`)
  const lines = await Promise.all(
    [...files, 'provenance.json'].map(
      async (name) => `${await sha256(join(out, name))}  ${name}\n`,
    ),
  )
  await writeFile(join(out, 'SHA256SUMS'), lines.join(''))
}

/** The workflow of GitHub, or a machine that nobody vouches for. */
function builder(repository: string) {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name, GITHUB_RUN_ID: run } = process.env
  if (run === undefined) return { builder: { id: `${repository}/blob/main/scripts/release.ts` } }
  const attempt = process.env['GITHUB_RUN_ATTEMPT'] ?? '1'
  return {
    builder: { id: `${server}/${process.env['GITHUB_WORKFLOW_REF']}` },
    metadata: { invocationId: `${server}/${name}/actions/runs/${run}/attempts/${attempt}` },
  }
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}

/** Reads the state of the sources of this checkout. */
export async function sourceOf(): Promise<Source> {
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
