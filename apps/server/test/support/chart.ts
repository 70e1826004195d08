import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'

/** Libraries of Debian for Go. */
const LIBRARIES = '/usr/share/gocode'
const CHART = resolve(import.meta.dirname, '../../../../deploy/helm/remit')

/** Returns true if the machine can render the chart. */
export const canRender = (): boolean =>
  spawnSync('go', ['version']).error === undefined &&
  ['github.com/Masterminds/sprig', 'sigs.k8s.io/yaml'].every((name) =>
    existsSync(join(LIBRARIES, 'src', name)),
  )

export const chartText = (name: string): string => readFileSync(join(CHART, name), 'utf8')

export type Values = Readonly<Record<string, unknown>>

export const defaultValues = (): Values => parse(chartText('values.yaml')) as Values

/** Renders the chart with the real templates of Go. */
export class ChartRenderer {
  readonly #folder = mkdtempSync(join(tmpdir(), 'remit-chart-'))

  constructor() {
    const env = {
      ...process.env,
      GOPATH: LIBRARIES,
      GO111MODULE: 'off',
      GOCACHE: join(this.#folder, 'cache'),
    }
    const source = resolve(import.meta.dirname, 'render-chart.go')
    const built = spawnSync('go', ['build', '-o', this.#program, source], { env })
    if (built.status !== 0) throw new Error(built.stderr.toString())
  }

  get #program(): string {
    return join(this.#folder, 'render')
  }

  /** Returns the manifests of a release; `values` replace members of the default values. */
  render(values: Values, name = 'remit'): readonly unknown[] {
    const { version, appVersion } = parse(chartText('Chart.yaml')) as Record<string, string>
    const input = {
      Values: { ...defaultValues(), ...values },
      Release: { Name: name, Namespace: 'remit', Revision: 1, Service: 'Helm' },
      Chart: { Name: 'remit', Version: version, AppVersion: appVersion },
    }
    const done = spawnSync(this.#program, [CHART], { input: JSON.stringify(input) })
    if (done.status !== 0) throw new Error(done.stderr.toString())
    return parseAllDocuments(done.stdout.toString()).map((one) => {
      if (one.errors[0]) throw one.errors[0]
      return one.toJS() as unknown
    })
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }
}
