import { invalid } from '@remit/core/base'
import type { RequestInfo } from '@remit/core/http'

/** Returns the last event that a reconnecting client has; undefined for a first connection. */
export function lastEventId(request: RequestInfo): number | undefined {
  const text = request.header('last-event-id')
  if (text === undefined || text === '') return undefined
  if (!/^\d{1,15}$/.test(text)) throw invalid('Last-Event-ID', 'must be the id of an event')
  return Number(text)
}
