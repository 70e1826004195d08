import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@remit/testing'
import { stringify } from 'yaml'

export const hasPrometheus = spawnSync('prometheus', ['--version']).error === undefined

interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [number, string]
}

interface Rule {
  readonly name: string
  readonly health: string
}

/** A Prometheus that scrapes the server at `target`, `host:port`, as the job `remit` each second. */
export class Prometheus {
  readonly #folder = mkdtempSync(join(tmpdir(), 'remit-prometheus-'))
  readonly #child
  readonly #url: string

  static async start(target: string, rulesFile: string): Promise<Prometheus> {
    return new Prometheus(target, rulesFile, await freePort())
  }

  private constructor(target: string, rulesFile: string, port: number) {
    const config = {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [rulesFile],
      scrape_configs: [{ job_name: 'remit', static_configs: [{ targets: [target] }] }],
    }
    writeFileSync(join(this.#folder, 'prometheus.yaml'), stringify(config))
    this.#url = `http://127.0.0.1:${port}/api/v1`
    this.#child = spawn(
      'prometheus',
      [
        `--config.file=${join(this.#folder, 'prometheus.yaml')}`,
        `--storage.tsdb.path=${join(this.#folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    )
  }

  async query(expr: string): Promise<readonly Sample[]> {
    const { result } = await this.#get<{ result: Sample[] }>(
      `query?query=${encodeURIComponent(expr)}`,
    )
    return result
  }

  async rules(): Promise<readonly Rule[]> {
    const { groups } = await this.#get<{ groups: { rules: Rule[] }[] }>('rules')
    return groups.flatMap(({ rules }) => rules)
  }

  async stop(): Promise<void> {
    const ended = once(this.#child, 'close')
    this.#child.kill('SIGKILL')
    await ended
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #get<Data>(path: string): Promise<Data> {
    const response = await fetch(`${this.#url}/${path}`)
    if (!response.ok) throw new Error(await response.text())
    return ((await response.json()) as { data: Data }).data
  }
}
