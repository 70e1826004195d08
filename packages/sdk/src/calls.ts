import type { Allow, Verdict } from './verdict.ts'

/** Decisions of this process that are kept at least; an older one is known to the server. */
const KEPT = 1_000

interface Call {
  readonly verdict: Promise<Verdict>
  /** Null where the first caller cannot abort: the question then has somebody who waits to the end. */
  readonly controller: AbortController | null
  waiting: number
  isTaken: boolean
}

/**
 * One decision per call: hosts often have two hooks for one call, and two questions would hold money
 * twice. Who asks while a question is open shares it; an allow is given out until it is taken, once.
 */
export class Calls {
  #calls = new Map<string, Call>()
  /** The calls before those; a map that loses its oldest member at each call becomes slow. */
  #earlier = new Map<string, Call>()
  readonly #allowed = new WeakMap<Allow, Call>()

  /** The verdict for a key; null where its allow has been taken. */
  async verdict(
    key: string,
    signal: AbortSignal | undefined,
    decide: (signal: AbortSignal | undefined) => Promise<Verdict>,
  ): Promise<Verdict | null> {
    signal?.throwIfAborted()
    const known = this.#calls.get(key) ?? this.#earlier.get(key)
    if (known?.isTaken === true) return null
    const call = known ?? this.#begin(key, signal ? new AbortController() : null, decide)
    call.waiting++
    try {
      return await untilAborted(call.verdict, signal)
    } finally {
      // The question ends when nobody waits for it any more.
      if (--call.waiting === 0 && signal?.aborted === true) {
        call.controller?.abort(signal.reason)
        this.#forget(key, call)
      }
    }
  }

  /** Takes an allow for its one execution; false if it was taken before. */
  take(allow: Allow): boolean {
    const call = this.#allowed.get(allow)
    if (!call || call.isTaken) return false
    call.isTaken = true
    return true
  }

  #begin(
    key: string,
    controller: AbortController | null,
    decide: (signal: AbortSignal | undefined) => Promise<Verdict>,
  ): Call {
    const verdict = decide(controller?.signal).then(
      (decided) => {
        if (decided.kind === 'allow') this.#allowed.set(decided, call)
        else this.#forget(key, call)
        return decided
      },
      (error: unknown) => {
        this.#forget(key, call)
        throw error
      },
    )
    const call: Call = { verdict, controller, waiting: 0, isTaken: false }
    if (this.#calls.size === KEPT) {
      this.#earlier = this.#calls
      this.#calls = new Map()
    }
    this.#calls.set(key, call)
    return call
  }

  #forget(key: string, call: Call): void {
    for (const calls of [this.#calls, this.#earlier]) if (calls.get(key) === call) calls.delete(key)
  }
}

/** Settles as `promise` does, or rejects with the signal's reason before it. */
async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return promise
  const aborted = Symbol('aborted')
  let end = (): void => undefined
  const ended = new Promise<typeof aborted>((resolve) => {
    end = () => resolve(aborted)
  })
  signal.addEventListener('abort', end, { once: true })
  try {
    const result = await Promise.race([promise, ended])
    if (result === aborted) throw signal.reason
    return result
  } finally {
    signal.removeEventListener('abort', end)
  }
}
