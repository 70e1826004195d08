import { setImmediate, setTimeout } from 'node:timers/promises'
import { Turns } from './turns.ts'

/**
 * Heavy work on the event loop, piece by piece: one piece at a time, and after each a pause as long as
 * it took. So all of it together takes half of the processor at most, and organizations take turns.
 */
export class Share {
  readonly #turns = new Turns({ size: 1 })

  /** Runs a piece of a few milliseconds when it is its turn; resolves after the pause. */
  run<T>(owner: string, piece: () => T | Promise<T>): Promise<T> {
    return this.#turns.run(owner, async () => {
      const begun = performance.now()
      try {
        return await piece()
      } finally {
        const spent = performance.now() - begun
        // A timer alone may end in the turn that began it: its clock stood still meanwhile.
        await setImmediate()
        if (spent >= 1) await setTimeout(spent)
      }
    })
  }
}
