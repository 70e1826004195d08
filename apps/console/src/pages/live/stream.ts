import type { Entry } from '@remit/contract'

const MOST_SHOWN = 200
/** Events per second above which only a sample is shown. */
const MOST_PER_SECOND = 50

export interface Stream {
  readonly shown: readonly Entry[]
  /** Kept back while paused. */
  readonly waiting: readonly Entry[]
  readonly isPaused: boolean
  readonly isSampled: boolean
  readonly second: number
  readonly inSecond: number
}

export const EMPTY_STREAM: Stream = {
  shown: [],
  waiting: [],
  isPaused: false,
  isSampled: false,
  second: 0,
  inSecond: 0,
}

const newestFirst = (entries: readonly Entry[]): Entry[] => {
  const bySeq = new Map(entries.map((entry) => [entry.seq, entry]))
  return [...bySeq.values()].toSorted((one, other) => other.seq - one.seq).slice(0, MOST_SHOWN)
}

/** The stream with further entries; each entry once, whatever the order of their arrival. */
export function withEntries(stream: Stream, entries: readonly Entry[], now: number): Stream {
  const second = Math.floor(now / 1000)
  const already = second === stream.second ? stream.inSecond : 0
  const inSecond = already + entries.length
  const taken = entries.slice(0, Math.max(0, MOST_PER_SECOND - already))
  const counted = {
    second,
    inSecond,
    isSampled: inSecond > MOST_PER_SECOND || (stream.isSampled && second === stream.second),
  }
  if (stream.isPaused)
    return { ...stream, ...counted, waiting: newestFirst([...taken, ...stream.waiting]) }
  return { ...stream, ...counted, shown: newestFirst([...taken, ...stream.shown]) }
}

/** The stream with entries from before it began, which are no burst. */
export const withHistory = (stream: Stream, entries: readonly Entry[]): Stream => ({
  ...stream,
  shown: newestFirst([...stream.shown, ...entries]),
})

export const paused = (stream: Stream): Stream => ({ ...stream, isPaused: true })

export const resumed = (stream: Stream): Stream => ({
  ...stream,
  isPaused: false,
  waiting: [],
  shown: newestFirst([...stream.waiting, ...stream.shown]),
})
