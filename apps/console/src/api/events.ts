import { pause } from '@remit/contract/client'
import type { Entry } from '@remit/contract'
import { useEffect, useEffectEvent } from 'react'
import { remit } from './client.ts'
import { wantsNotifications } from './notifications.ts'

type Listener = (entry: Entry) => void

const NAME = 'remit-events'
const RECONNECT_MS = 2_000
const listeners = new Set<Listener>()
const channel = new BroadcastChannel(NAME)
channel.addEventListener('message', ({ data }: MessageEvent<Entry>) => tell(data))

const tell = (entry: Entry): void => {
  for (const listener of listeners) listener(entry)
}

/** The stream that the server offers to this principal. */
export type Feed = 'ledger' | 'approvals'

/**
 * Reads the stream of events in one tab and tells the others: over HTTP/1.1 a browser has six
 * connections to a host, whatever the number of tabs. Hidden tabs leave the stream to a visible one, unless
 * the person wants notifications.
 */
export function followEvents(feed: Feed): () => void {
  let turn: AbortController | null = null
  const update = () => {
    if (document.visibilityState === 'hidden' && !wantsNotifications()) {
      turn?.abort()
      turn = null
    } else if (!turn) {
      turn = new AbortController()
      void takeTurn(feed, turn.signal).catch(() => undefined)
    }
  }
  document.addEventListener('visibilitychange', update)
  update()
  return () => {
    document.removeEventListener('visibilitychange', update)
    turn?.abort()
  }
}

async function takeTurn(feed: Feed, signal: AbortSignal): Promise<void> {
  // Locks need a secure context; without them each visible tab reads for itself.
  if (!('locks' in navigator)) return read(feed, signal)
  await navigator.locks.request(NAME, { signal }, () => read(feed, signal))
}

async function read(feed: Feed, signal: AbortSignal): Promise<void> {
  let last: string | null = null
  while (!signal.aborted) {
    const headers: Record<string, string> = last === null ? {} : { 'last-event-id': last }
    try {
      const stream = feed === 'ledger' ? remit.streamEntries : remit.streamApprovals
      for await (const { data, id } of stream({ headers, signal })) {
        last = id
        const entry = JSON.parse(data) as Entry
        tell(entry)
        channel.postMessage(entry)
      }
    } catch {
      // The server stopped or the session ended; the next query shows which.
    }
    await pause(RECONNECT_MS, signal).catch(() => undefined)
  }
}

/** Calls the newest `listener` for each entry of the stream. */
export function useEvents(listener: Listener): void {
  const onEntry = useEffectEvent(listener)
  useEffect(() => {
    const tellIt = (entry: Entry) => onEntry(entry)
    listeners.add(tellIt)
    return () => {
      listeners.delete(tellIt)
    }
  }, [])
}
