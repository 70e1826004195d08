import { Periodic } from '../base/periodic.ts'
import { eachPart } from './parts.ts'
import type { Part } from './parts.ts'
import type { AnyDatabase } from './portable.ts'

const EVERY_MS = 60 * 60 * 1000

interface CleanupDeps {
  readonly db: AnyDatabase
  readonly log: { error(fields: object, message: string): void }
}

/** Deletes old rows of all organizations at the start and every hour. */
export class Cleanup {
  readonly #runs: Periodic
  readonly #closing = new AbortController()

  /** `rows` names the rows in logs; `remove` deletes those of a part and ends when its signal aborts. */
  constructor(
    { db, log }: CleanupDeps,
    rows: string,
    remove: (part: Part, signal: AbortSignal) => Promise<unknown>,
  ) {
    const onError = (error: unknown, organizations?: readonly string[]) =>
      log.error({ err: error, organizations }, `deleting old ${rows} failed`)
    this.#runs = new Periodic(
      EVERY_MS,
      async () => void (await eachPart(db, (part) => remove(part, this.#closing.signal), onError)),
      onError,
    )
  }

  start(): void {
    this.#runs.start()
    void this.run()
  }

  run(): Promise<void> {
    return this.#runs.run()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#runs.close()
  }
}
