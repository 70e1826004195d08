import { hash } from 'node:crypto'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FOLDER, once, run } from './environment.ts'

interface Program {
  /** Go modules and their versions; the first one has the program, unless `generate` makes it. */
  readonly modules: readonly string[]
  /** Lines of `go.mod`. A module with such lines of its own cannot be installed by `go install`. */
  readonly replace?: readonly string[]
  readonly flags?: readonly string[]
  /** Writes the source of the program into a folder. */
  readonly generate?: (folder: string) => void
}

const COLLECTOR = 'v0.165.0'

const PROGRAMS = {
  /** For `apps/server/test/collector.test.ts`. */
  otelcol: {
    modules: [
      `go.opentelemetry.io/collector/otelcol@${COLLECTOR}`,
      `go.opentelemetry.io/collector/receiver/otlpreceiver@${COLLECTOR}`,
      `github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter@${COLLECTOR}`,
      // Of the same release.
      'go.opentelemetry.io/collector/confmap/provider/envprovider@v1.71.0',
      'go.opentelemetry.io/collector/confmap/provider/fileprovider@v1.71.0',
    ],
    generate: generateCollector,
  },
  /** For `apps/server/test/vault.test.ts`. */
  vault: {
    // With the library in whose place its `go.mod` names a folder.
    modules: ['github.com/hashicorp/vault@v1.21.4', 'github.com/hashicorp/vault/sdk@v0.25.1'],
    replace: [
      'github.com/99designs/keyring => github.com/Jeffail/keyring v1.2.3',
      'github.com/ma314smith/signedxml v1.1.1 => github.com/moov-io/signedxml v1.1.1',
    ],
    // Without the drivers of databases and clouds.
    flags: ['-tags=minimal'],
  },
} as const satisfies Record<string, Program>

/** Writes the source of a collector with a receiver of OTLP and an exporter to files, by its own generator. */
function generateCollector(folder: string): void {
  const components = (kind: string) =>
    PROGRAMS.otelcol.modules
      .filter((module) => module.includes(`/${kind}/`))
      .map((module) => ({ gomod: module.replace('@', ' ') }))
  const config = join(folder, 'collector.json')
  const parts = {
    receivers: components('receiver'),
    exporters: components('exporter'),
    providers: components('provider'),
  }
  const dist = { name: 'otelcol', output_path: folder }
  writeFileSync(config, JSON.stringify({ dist, ...parts }))
  const builder = `go.opentelemetry.io/collector/cmd/builder@${COLLECTOR}`
  const only = ['--skip-compilation', '--skip-get-modules']
  run('go', ['run', builder, `--config=${config}`, ...only])
}

/** Builds a program from the modules of its project, unless it is there: `<FOLDER>/<name>/<name>`. Needs Go 1.26. */
function build(name: string, program: Program): void {
  const { modules, replace = [], flags = [], generate } = program
  // A file name is too short for all of them.
  const requirements = hash('sha256', [...modules, ...replace, ...flags].join()).slice(0, 16)
  once(name, [requirements], () => {
    const source = join(FOLDER, name, 'source')
    rmSync(source, { recursive: true, force: true })
    mkdirSync(source, { recursive: true })
    generate?.(source)
    const lines = replace.map((line) => `replace ${line}\n`)
    writeFileSync(
      join(source, 'go.mod'),
      `module remit.test/${name}\n\ngo 1.26\n\n${lines.join('')}`,
    )
    const go = (verb: string, ...args: string[]) => run('go', ['-C', source, verb, ...args])
    go('get', ...modules)
    const target = [
      '-o',
      join(FOLDER, name, name),
      generate ? '.' : (modules[0]?.split('@')[0] ?? ''),
    ]
    // Reads the sums of further modules, whose tests it does not need.
    go('build', '-mod=mod', '-trimpath', '-ldflags=-s -w', ...flags, ...target)
  })
}

/** Rows of `scripts/peers.ts`: programs that tests start, which are skipped without them. */
export const programs = Object.fromEntries(
  Object.entries(PROGRAMS).map(([name, program]) => [
    name,
    { install: () => build(name, program) },
  ]),
)
