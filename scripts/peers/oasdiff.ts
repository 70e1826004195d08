import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FOLDER, ROOT, once, run, table } from './environment.ts'

const MODULE = 'github.com/oasdiff/oasdiff@v1.37.0'
const PROGRAM = join(FOLDER, 'oasdiff/oasdiff')
/** What clients must survive, by the promise in docs/api.md. */
const LEVELS = join(ROOT, 'scripts/peers/oasdiff-levels.txt')

interface Accepted {
  readonly operations: readonly string[]
  /** Begins the text of the findings. */
  readonly text: RegExp
  readonly reason: string
}

/** Findings against the last release that break no client, or that a minor version before 1.0 breaks on purpose. */
const ACCEPTED: readonly Accepted[] = [
  {
    operations: ['POST /v1/approval-rules/{id}'],
    text: /^(added .* to the response body `anyOf`|the response's body `type` changed|removed the required property `\w+` from the response).*`200`/,
    reason: 'The further shape answers `?validate=true`, which clients of before do not send',
  },
  {
    operations: ['GET /v1/compliance/reports/{id}'],
    text: /^added `#\/components\/schemas\/OscalResults` to the response body/,
    reason: 'The further shape answers `?format=oscal`, which clients of before do not send',
  },
  {
    operations: ['GET /v1/ledger'],
    text: /^the response property `data\/items\/(data|salt)` became optional/,
    reason: 'They are absent with `?fields=header`, which clients of before do not send',
  },
  {
    operations: ['POST /v1/identity/introspect', 'POST /v1/identity/revoke'],
    text: /^media type `application\/problem\+json` was changed to .* `application\/json`/,
    reason:
      'RFC 6749 requires it of the errors of OAuth endpoints; the members of the problem stay',
  },
]

interface Finding {
  readonly id: string
  readonly text: string
  /** 1 tells, 2 warns, 3 is an error. */
  readonly level: 1 | 2 | 3
  readonly operation: string
  readonly path: string
}

export function installOasdiff(): void {
  once('oasdiff', [MODULE], () => {
    mkdirSync(join(FOLDER, 'oasdiff'), { recursive: true })
    run('go', ['install', MODULE], { GOBIN: join(FOLDER, 'oasdiff') })
  })
}

/**
 * Compares `openapi.json` with that of the last release. Returns a line of figures for docs/peers.md, and the
 * changes that break a client and that nobody accepted.
 */
export function compareWithRelease(): { figures: string; problems: string[] } {
  const release = lastRelease()
  const base = withoutTexts('base', git('show', `${release.commit}:openapi.json`))
  const revision = withoutTexts('revision', readFileSync(join(ROOT, 'openapi.json'), 'utf8'))
  const all = findings(base, revision, [])
  const breaking = findings(base, revision, ['--severity-levels', LEVELS]).filter(
    ({ level }) => level > 1,
  )
  const isAccepted = (one: Finding, { operations, text }: Accepted) =>
    operations.includes(`${one.operation} ${one.path}`) && text.test(one.text)
  const refused = breaking.filter((one) => !ACCEPTED.some((row) => isAccepted(one, row)))
  const idle = ACCEPTED.filter((row) => !breaking.some((one) => isAccepted(one, row)))
  const names = ['base', 'findings', 'survived by rule', 'accepted with a reason', 'refused']
  const survived = all.length - breaking.length
  const accepted = breaking.length - refused.length
  const figures = table(names, [[release.name, all.length, survived, accepted, refused.length]])
  return {
    figures,
    problems: [
      ...refused.map(({ id, operation, path, text }) => `${operation} ${path}: ${text} [${id}]`),
      ...idle.map(
        ({ operations, text }) => `nothing is accepted by ${operations.join()} ${text}: remove it`,
      ),
    ],
  }
}

const git = (...args: string[]): string =>
  execFileSync('git', ['-c', 'safe.directory=*', ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 1e8,
  }).trim()

/** The last tag of a version; without one, the commit that gave the packages their version. */
function lastRelease(): { name: string; commit: string } {
  const [tag] = git('tag', '--list', 'v*', '--merged', 'HEAD', '--sort=-v:refname').split('\n')
  if (tag) return { name: tag, commit: tag }
  const manifest = 'packages/contract/package.json'
  const { version } = JSON.parse(readFileSync(join(ROOT, manifest), 'utf8')) as { version: string }
  const args = ['--format=%H', '-S', `"version": "${version}"`, '--', manifest]
  const commit = git('log', ...args)
    .split('\n')
    .at(-1)
  if (!commit) throw new Error('oasdiff: the history of git is not here; fetch all of it')
  return { name: `${version} (${commit.slice(0, 8)})`, commit }
}

/** Shapes that differ in texts alone count as different in a list of alternatives. */
function withoutTexts(name: string, document: string): string {
  const file = join(FOLDER, 'oasdiff', `${name}.json`)
  const isText = (key: string, value: unknown) =>
    key === 'example' ||
    (['description', 'title', 'summary'].includes(key) && typeof value === 'string')
  const drop = (key: string, value: unknown) => (isText(key, value) ? undefined : value)
  writeFileSync(file, JSON.stringify(JSON.parse(document, drop)))
  return file
}

function findings(base: string, revision: string, options: readonly string[]): Finding[] {
  const args = ['breaking', base, revision, '--format', 'json', ...options]
  const text = execFileSync(PROGRAM, args, { encoding: 'utf8', maxBuffer: 1e9 })
  return (JSON.parse(text || '[]') as Finding[] | null) ?? []
}
