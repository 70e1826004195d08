/**
 * Test tools of others against Remit, nightly: `node --conditions=@remit/source scripts/peers.ts [install] [<name>…]`.
 *
 * Installs the named tools, or all, below `node_modules/.cache/peers`; unless told to `install` only, runs them
 * and exits with 1 if one of them finds a fault. `--write` writes their figures to docs/peers.md. Needs Python 3.10
 * to 3.13 with `venv`, Go, and the history of git.
 *
 * `--seconds N` (900) of Schemathesis at most; `--seed N`.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runSuites } from './peers/agentdojo.ts'
import { useClient } from './peers/authlib.ts'
import { ROOT, goProgram, python } from './peers/environment.ts'
import { installCollector } from './peers/collector.ts'
import { probeGuard } from './peers/garak.ts'
import { compareWithRelease, installOasdiff } from './peers/oasdiff.ts'
import { fuzz } from './peers/schemathesis.ts'

interface Result {
  /** Markdown for docs/peers.md. */
  readonly figures?: string
  /** Lines; without any, all is well. */
  readonly problems: readonly string[]
}

interface Peer {
  install(): void
  run?(): Promise<Result> | Result
  /** The figures depend on nothing but Remit and the pinned tool: a change of them is a change of Remit. */
  readonly isFixed?: true
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: 'string', default: '900' },
    seed: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})

const KUBERNETES = '1.37.2'

const PEERS: Readonly<Record<string, Peer>> = {
  // For `examples/test/litellm.test.ts`. The oldest is the first that can hold back a stream.
  'litellm-oldest': { install: () => python('litellm-oldest', ['litellm[proxy]==1.108.0']) },
  'litellm-newest': { install: () => python('litellm-newest', ['litellm[proxy]==1.110.2']) },
  agentdojo: {
    install: () => python('agentdojo', ['agentdojo==0.1.35']),
    run: runSuites,
    isFixed: true,
  },
  authlib: {
    install: () => python('authlib', ['authlib==1.9.10', 'httpx==0.28.1', 'requests==2.34.2']),
    run: useClient,
  },
  // For `apps/server/test/kubernetes-api.test.ts`.
  etcd: {
    install: () =>
      goProgram('etcd', {
        modules: ['go.etcd.io/etcd/server/v3@v3.7.3'],
        target: 'go.etcd.io/etcd/server/v3',
      }),
  },
  garak: {
    install: () => python('garak', ['--no-deps', 'garak==0.17.1']),
    run: probeGuard,
    isFixed: true,
  },
  'kube-apiserver': { install: installApiServer },
  oasdiff: { install: installOasdiff, run: compareWithRelease },
  // For `apps/server/test/collector.test.ts`.
  otelcol: { install: installCollector },
  schemathesis: {
    install: () => python('schemathesis', ['schemathesis>=4,<5']),
    run: async () => ({ problems: await fuzz(values.seconds, values.seed) }),
  },
  // For `apps/server/test/vault.test.ts`. The newest whose requirements are all published; its go.mod has the same
  // replacements.
  vault: {
    install: () =>
      goProgram('vault', {
        modules: ['github.com/hashicorp/vault@v1.21.2'],
        replace: [
          'github.com/99designs/keyring=github.com/Jeffail/keyring@v1.2.3',
          'github.com/ma314smith/signedxml@v1.1.1=github.com/moov-io/signedxml@v1.1.1',
        ],
        // Without the drivers of databases and clouds.
        flags: ['-tags=minimal'],
        target: 'github.com/hashicorp/vault',
      }),
  },
}

/** Builds the API server of Kubernetes, for `apps/server/test/kubernetes-api.test.ts`. */
function installApiServer(): void {
  const module = `k8s.io/kubernetes@v${KUBERNETES}`
  const found = execFileSync('go', ['mod', 'download', '-json', module], { encoding: 'utf8' })
  const { GoMod } = JSON.parse(found) as { GoMod: string }
  // Folders of its repository, which are published as modules of the same release.
  const staged = readFileSync(GoMod, 'utf8').matchAll(/^\s*(\S+) => \.\/staging\//gm)
  goProgram('kube-apiserver', {
    modules: [module],
    replace: Array.from(staged, ([, name]) => `${name}=${name}@v0${KUBERNETES.slice(1)}`),
    target: 'k8s.io/kubernetes/cmd/kube-apiserver',
  })
}

const PAGE = join(ROOT, 'docs/peers.md')

/** Returns docs/peers.md in three parts; the second one is the figures of a tool, between their marks. */
function parts(name: string): [before: string, figures: string, after: string] {
  const page = readFileSync(PAGE, 'utf8')
  const [, before, figures, after] =
    new RegExp(`^([^]*<!-- figures: ${name} -->\n)([^]*?)(<!-- end -->[^]*)$`).exec(page) ?? []
  if (before === undefined || figures === undefined || after === undefined)
    throw new Error(`docs/peers.md has no place for the figures of ${name}`)
  return [before, figures, after]
}

function write(name: string, figures: string): void {
  const [before, , after] = parts(name)
  writeFileSync(PAGE, `${before}\n${figures}\n\n${after}`)
}

/** Tables may be aligned differently. */
const isWritten = (name: string, figures: string): boolean => {
  const plain = (text: string) => text.replaceAll(/[\s-]+/g, ' ').trim()
  return plain(parts(name)[1]) === plain(figures)
}

const isInstallOnly = positionals[0] === 'install'
const names = isInstallOnly ? positionals.slice(1) : positionals
const unknown = names.find((name) => !(name in PEERS))
if (unknown !== undefined)
  throw new Error(`${unknown}: must be one of ${Object.keys(PEERS).join(', ')}`)
const chosen = Object.entries(PEERS).filter(([name]) => names.length === 0 || names.includes(name))
for (const [name, peer] of chosen) {
  try {
    peer.install()
    const { figures, problems } = (isInstallOnly ? undefined : await peer.run?.()) ?? {
      problems: [],
    }
    if (figures !== undefined) {
      console.log(`${name}:\n${figures}`)
      if (values.write) write(name, figures)
      else if (peer.isFixed && !isWritten(name, figures)) {
        console.error(`${name}: the figures differ from docs/peers.md; --write writes them`)
        process.exitCode = 1
      }
    }
    for (const problem of problems) console.error(`${name}: ${problem}`)
    if (problems.length > 0) process.exitCode = 1
  } catch (error) {
    console.error(`${name}: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
