/** Time and the event loop, given from outside. Milliseconds. */
export interface Pacing {
  /** Monotonic. */
  now(): number
  /** Lets other requests run. */
  pause(): Promise<void>
}

const SLICE_MS = 10

/** A step to take between pieces of work: pauses when they have together taken 10 ms. */
export function sliced(pacing: Pacing): () => Promise<void> {
  let begun = pacing.now()
  return async () => {
    if (pacing.now() - begun < SLICE_MS) return
    await pacing.pause()
    begun = pacing.now()
  }
}
