import type { Allow, Verdict } from './verdict.ts'

/** Decisions of this process that are kept; an older one is known to the server. */
const MAX_KEPT = 1_000

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
  readonly #calls = new Map<string, Call>()
  readonly #allowed = new WeakMap<Allow, Call>()

  /** The verdict for a key; null where its allow has been taken. */
  async verdict(
    key: string,
    signal: AbortSignal | undefined,
    decide: (signal: AbortSignal | undefined) => Promise<Verdict>,
  ): Promise<Verdict | null> {
    signal?.throwIfAborted()
    const known = this.#calls.get(key)
    if (known?.isTaken === true) return null
    const call = known ?? this.#begin(key, signal ? new AbortController() : null, decide)
    call.waiting++
    try {
      return await untilAborted(call.verdict, signal)
    } finally {
      // The question ends when nobody waits for it any more.
      if (--call.waiting === 0 && signal?.aborted === true) {
        call.controller?.abort(signal.reason)
        if (this.#calls.get(key) === call) this.#calls.delete(key)
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
        else this.#calls.delete(key)
        return decided
      },
      (error: unknown) => {
        this.#calls.delete(key)
        throw error
      },
    )
    const call: Call = { verdict, controller, waiting: 0, isTaken: false }
    this.#calls.set(key, call)
    if (this.#calls.size > MAX_KEPT) {
      const [oldest = key] = this.#calls.keys()
      this.#calls.delete(oldest)
    }
    return call
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
