import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Definition } from './counting.ts'

/** The calls that a `counting-server` in another process received, and a switch for its definitions. */
export class CallFile {
  readonly #folder = mkdtempSync(join(tmpdir(), 'remit-mcp-'))
  readonly path = join(this.#folder, 'calls')
  /** Once it exists, `pay` has another description. */
  readonly changed = join(this.#folder, 'changed')

  readonly tools = join(this.#folder, 'tools')

  /** From now on the server offers these tools. */
  offer(tools: readonly Definition[]): void {
    writeFileSync(this.tools, JSON.stringify(tools))
  }

  get calls(): string[] {
    return existsSync(this.path) ? readFileSync(this.path, 'utf8').trim().split('\n') : []
  }

  clear(): void {
    rmSync(this.path, { force: true })
    rmSync(this.tools, { force: true })
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true })
  }
}
