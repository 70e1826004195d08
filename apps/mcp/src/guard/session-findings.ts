import type { Finding } from './results.ts'

const MAX_REASONS = 32

/** The findings in results of a session, as later decisions of the session see them. */
export class SessionFindings {
  readonly #reasons = new Set<string>()
  #open: Promise<unknown> = Promise.resolve()

  /** Adds the finding of a check that runs; the next decision waits for it. */
  add(check: Promise<Finding | null>): Promise<Finding | null> {
    const noted = check.then((finding) => {
      for (const reason of finding?.reasons ?? [])
        if (this.#reasons.size < MAX_REASONS) this.#reasons.add(reason)
      return finding
    })
    // Its value would hold all earlier ones.
    this.#open = Promise.all([this.#open, noted]).then(() => undefined)
    return noted
  }

  /** The facts for `context.guard`, once all results that the client has are checked. */
  async facts(): Promise<{ flagged: boolean; reasons: string[] }> {
    await this.#open
    return { flagged: this.#reasons.size > 0, reasons: [...this.#reasons].toSorted() }
  }
}
