import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { remit } from '../../api/client.ts'
import { useEvents } from '../../api/events.ts'
import { useCan } from '../../api/session.ts'
import { useNow } from '../../ui/values.tsx'
import { EMPTY_STREAM, paused, resumed, withEntries, withHistory } from './stream.ts'
import type { Stream } from './stream.ts'

const KIND = 'authorization.decided'
const POLL_MS = 5_000

export interface Decisions {
  readonly stream: Stream
  readonly now: number
  readonly error: unknown
  readonly isLoading: boolean
  readonly hasStream: boolean
  readonly pause: () => void
  readonly resume: () => void
}

/** Decisions as they are made: the newest ones, then each event; where there is no stream, polled. */
export function useDecisions(): Decisions {
  const can = useCan()
  const hasStream = can('GET /v1/ledger/events')
  const now = useNow(5_000)
  const [stream, setStream] = useState<Stream>(EMPTY_STREAM)
  const first = useQuery({
    queryKey: ['ledger', 'live'],
    queryFn: ({ signal }) => remit.listEntries({ query: { kind: KIND, limit: 50 }, signal }),
    refetchInterval: hasStream ? false : POLL_MS,
  })
  useEvents((entry) => {
    if (entry.kind === KIND) setStream((before) => withEntries(before, [entry], Date.now()))
  })
  return {
    stream: withHistory(stream, first.data?.data ?? []),
    now,
    error: first.error,
    isLoading: first.isLoading,
    hasStream,
    pause: () => setStream(paused),
    resume: () => setStream(resumed),
  }
}
