/** Clock and event loop, as an argument. Milliseconds. */
export interface Pacing {
  /** Monotonic. */
  now(): number
  /** Lets other requests run. */
  pause(): Promise<void>
}

const SLICE_MS = 10

/** Returns a function to call between pieces of work: it pauses after every 10 ms of work. */
export function sliced(pacing: Pacing): () => Promise<void> {
  let begun = pacing.now()
  return async () => {
    if (pacing.now() - begun < SLICE_MS) return
    await pacing.pause()
    begun = pacing.now()
  }
}
