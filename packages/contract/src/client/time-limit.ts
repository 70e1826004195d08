import { RemitError } from './error.ts'

/**
 * Runs `work` with a signal that ends with the caller's and after `ms`, and settles then, even if `work`
 * ignores its signal. Rejects with the caller's own reason, or with `timed_out`. Leaves no timer behind.
 */
export function withTimeLimit<T>(
  ms: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const controller = new AbortController()
    const end = (reason: Error) => {
      release()
      reject(reason)
      controller.abort(reason)
    }
    const onAbort = () => end(signal?.reason as Error)
    const late = () =>
      end(new RemitError({ code: 'timed_out', message: `no answer within ${ms} ms` }))
    const timer = setTimeout(late, ms)
    signal?.addEventListener('abort', onAbort, { once: true })
    const release = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    work(controller.signal).then(
      (result) => {
        release()
        return resolve(result)
      },
      (error: Error) => {
        release()
        reject(error)
      },
    )
  })
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
