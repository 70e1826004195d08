import type { Entry, LedgerFilters, ListedEntry } from '@remit/contract'
import type { Deps } from '@remit/core/module'
import { eventOf } from '../streams/event-stream.ts'
import type { EventSource } from '../streams/event-stream.ts'
import type { HeadWatch } from './head-watch.ts'

const PIECE = 100

type EventFilters = Pick<LedgerFilters, 'kind' | 'agent_id' | 'decision'>

/** New entries of an organization's ledger that match the filters. */
export function ledgerEvents(
  { ledger }: Pick<Deps, 'ledger'>,
  heads: HeadWatch,
  orgId: string,
  filters: EventFilters,
  show: (entry: Entry) => ListedEntry,
): EventSource {
  const watch = heads.watch(orgId)
  return {
    async read(after, over) {
      const query = { ...filters, after_seq: after, order: 'asc', limit: PIECE } as const
      const { data, next_cursor: next, head } = await ledger.follow(orgId, query, over)
      const events = data.map((entry) => eventOf(entry, show(entry)))
      return { events, last: next === null ? head.seq : Number(next), hasMore: next !== null }
    },
    wait: (over) => watch.wait(over),
    close: () => watch.close(),
  }
}

/** An entry without its payload. */
export function headerOf(entry: Entry): ListedEntry {
  const header: ListedEntry = { ...entry }
  delete header.data
  delete header.salt
  return header
}
