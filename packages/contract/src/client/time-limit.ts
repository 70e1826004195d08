import { RemitError } from './error.ts'

const ENDED = Symbol('ended')

/**
 * Runs `work` with a signal that ends with the caller's and after `ms`, and settles then, even if `work`
 * ignores its signal. Rejects with the caller's own reason, or with `timed_out`. Leaves no timer behind.
 */
export async function withTimeLimit<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  let end: (reason: unknown) => void = () => undefined
  const ended = new Promise<typeof ENDED>((resolve) => {
    end = (reason) => {
      resolve(ENDED)
      controller.abort(reason)
    }
  })
  const onAbort = () => end(signal?.reason)
  const timer = setTimeout(
    () => end(new RemitError({ code: 'timed_out', message: `no answer within ${ms} ms` })),
    ms,
  )
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    const result = await Promise.race([ended, work(controller.signal)])
    if (result === ENDED) throw controller.signal.reason
    return result
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Resolves after `ms`; rejects with the signal's reason. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, ms)
    signal?.addEventListener('abort', done, { once: true })
  })
  signal?.throwIfAborted()
}
