import type { Caller } from '@remit/core/caller'
import { AlreadyAnswered, derivedClaim } from '@remit/core/ledger/lanes'
import type { WorkOrigin } from '@remit/core/ledger/lanes'

/** The answer to a question, and whether it was given before. */
export interface Once<Answer> {
  readonly answer: Answer
  readonly isRepeated: boolean
}

/**
 * Does the work of each question once: a repeat gets the stored answer, from whatever process. The
 * writer checks the caller of a repeat as that of the first.
 */
export class Questions {
  /** The writer does not compare the claims of one transaction with each other. */
  readonly #running = new OneAtATime()

  async once<Answer>(
    caller: Caller,
    kind: string,
    id: string | undefined,
    work: (origin: WorkOrigin<Caller>) => Promise<Answer>,
  ): Promise<Once<Answer>> {
    const unclaimed = { caller, claim: null, wantsNote: false }
    if (id === undefined) return { answer: await work(unclaimed), isRepeated: false }
    const claim = derivedClaim(caller, kind, id)
    try {
      const asked = () => work({ ...unclaimed, claim })
      const answer = await this.#running.run(`${caller.orgId} ${claim.key}`, asked)
      return { answer, isRepeated: false }
    } catch (error) {
      if (!(error instanceof AlreadyAnswered)) throw error
      return { answer: JSON.parse(error.answer.body) as Answer, isRepeated: true }
    }
  }
}

/** Runs work under one name after the other: the second then finds what the first has stored. */
class OneAtATime {
  readonly #last = new Map<string, Promise<unknown>>()

  async run<T>(name: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(name) ?? Promise.resolve()
    const mine = before.then(work, work)
    this.#last.set(name, mine)
    try {
      return await mine
    } finally {
      if (this.#last.get(name) === mine) this.#last.delete(name)
    }
  }
}
