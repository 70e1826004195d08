import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { goProgram, run } from './environment.ts'

const VERSION = 'v0.165.0'
/** Of the same release. */
const PROVIDERS = 'v1.71.0'

/** The receiver of OTLP, the exporter to files, and the readers of settings. */
const RECEIVER = `go.opentelemetry.io/collector/receiver/otlpreceiver ${VERSION}`
const EXPORTER = `github.com/open-telemetry/opentelemetry-collector-contrib/exporter/fileexporter ${VERSION}`
const READERS = ['env', 'file'].map(
  (name) => `go.opentelemetry.io/collector/confmap/provider/${name}provider ${PROVIDERS}`,
)

/** Builds an OpenTelemetry Collector with the generator of its project, for `apps/server/test/collector.test.ts`. */
export function installCollector(): void {
  const modules = [`go.opentelemetry.io/collector/otelcol ${VERSION}`, RECEIVER, EXPORTER]
  goProgram('otelcol', {
    modules: [...modules, ...READERS].map((module) => module.replace(' ', '@')),
    target: '.',
    generate,
  })
}

function generate(source: string): void {
  const gomods = (names: readonly string[]) => names.map((gomod) => ({ gomod }))
  const config = join(source, 'collector.json')
  const settings = {
    dist: { name: 'otelcol', output_path: source },
    receivers: gomods([RECEIVER]),
    exporters: gomods([EXPORTER]),
    providers: gomods(READERS),
  }
  writeFileSync(config, JSON.stringify(settings))
  const builder = `go.opentelemetry.io/collector/cmd/builder@${VERSION}`
  // The generator would fetch the modules of their tests, too.
  const only = ['--skip-compilation', '--skip-get-modules']
  run('go', ['run', builder, `--config=${config}`, ...only])
}
