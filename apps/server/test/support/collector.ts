import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { stringify } from 'yaml'

/** `node scripts/peers.ts install otelcol` builds it. */
const PROGRAM = resolve(
  import.meta.dirname,
  '../../../../node_modules/.cache/peers/otelcol/otelcol',
)

/** Returns true if the collector is there; otherwise says that its tests are skipped. */
export function hasCollector(): boolean {
  const isThere = existsSync(PROGRAM)
  if (!isThere) process.stderr.write('skipped: the OpenTelemetry Collector is not installed\n')
  return isThere
}

/** An OpenTelemetry Collector that writes what it gets over OTLP on HTTP to files below `folder`. */
export class Collector {
  readonly #child
  readonly #folder: string
  #log = ''

  /** Starts it and waits until it listens. */
  static async start(folder: string, port: number): Promise<Collector> {
    const exporters = ['traces', 'metrics'].map((signal) => [
      `file/${signal}`,
      { path: join(folder, `${signal}.jsonl`) },
    ])
    const pipelines = ['traces', 'metrics'].map((signal) => [
      signal,
      { receivers: ['otlp'], exporters: [`file/${signal}`] },
    ])
    const config = {
      receivers: { otlp: { protocols: { http: { endpoint: `127.0.0.1:${port}` } } } },
      exporters: Object.fromEntries(exporters) as object,
      service: {
        telemetry: { metrics: { level: 'none' } },
        pipelines: Object.fromEntries(pipelines) as object,
      },
    }
    writeFileSync(join(folder, 'collector.yaml'), stringify(config))
    const collector = new Collector(folder)
    await collector.#ready()
    return collector
  }

  private constructor(folder: string) {
    this.#folder = folder
    this.#child = spawn(PROGRAM, [`--config=${join(folder, 'collector.yaml')}`], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#child.stderr.on('data', (chunk: Buffer) => (this.#log += chunk.toString()))
  }

  async #ready(): Promise<void> {
    while (!this.#log.includes('Everything is ready')) {
      if (this.#child.exitCode !== null) throw new Error(`the collector ended: ${this.#log}`)
      await Promise.race([once(this.#child.stderr, 'data'), once(this.#child, 'exit')])
    }
  }

  /** Returns the requests of one signal that it has written; it writes once a second, and when it stops. */
  requests(signal: 'traces' | 'metrics'): readonly unknown[] {
    return readFileSync(join(this.#folder, `${signal}.jsonl`), 'utf8')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as unknown)
  }

  /** Stops it and returns its log. */
  async stop(): Promise<string> {
    const ended = once(this.#child, 'close')
    this.#child.kill('SIGTERM')
    await ended
    return this.#log
  }
}
