import { setImmediate, setTimeout } from 'node:timers/promises'
import { Turns } from './turns.ts'

/**
 * Runs heavy work on the event loop in slices: one at a time, followed by a pause of the same
 * length. All of it together uses at most half of the processor, and organizations take turns.
 */
export class HeavyWorkQueue {
  readonly #turns = new Turns({ size: 1 })

  /** Runs a slice of a few milliseconds when it is its turn; resolves after the pause. */
  run<T>(owner: string, piece: () => T | Promise<T>): Promise<T> {
    return this.#turns.run(owner, async () => {
      const begun = performance.now()
      try {
        return await piece()
      } finally {
        const spent = performance.now() - begun
        // A timer alone may fire in the turn that created it, because its clock did not advance.
        await setImmediate()
        if (spent >= 1) await setTimeout(spent)
      }
    })
  }
}
