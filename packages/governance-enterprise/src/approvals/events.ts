import { on } from '@remit/core/db'
import type { CoreTables, LedgerEntryRow } from '@remit/core/db'
import { wireEntry } from '@remit/core/ledger/records'
import type { Deps } from '@remit/core/module'
import { sql } from 'kysely'
import { Bell } from '../streams/bell.ts'
import { eventOf } from '../streams/event-stream.ts'
import type { EventSource } from '../streams/event-stream.ts'
import { APPROVALS_TOPIC } from './topic.ts'

/** Milliseconds between two polls without a signal. */
const LOOK_MS = 5_000
/** Few, because an entry has up to 64 KiB of context. */
const PIECE = 20

/** The organization's `approval.*` entries. */
export function approvalEvents(
  { db, ledger, signals }: Pick<Deps, 'db' | 'ledger' | 'signals'>,
  orgId: string,
): EventSource {
  const bell = new Bell()
  const stop = signals.subscribe(APPROVALS_TOPIC, (org) => {
    if (org === orgId) bell.ring()
  })
  return {
    async read(after, over) {
      const rows = await ledger.paced(orgId, () => readEntries(db, orgId, after), over)
      const events = rows.map((row) => eventOf(row, wireEntry(row)))
      return { events, last: rows.at(-1)?.seq ?? after, hasMore: rows.length === PIECE }
    },
    wait: (over) => bell.wait(LOOK_MS, over),
    close: stop,
  }
}

/** The condition on the kind must equal that of the index `ledger_entry_approvals`. */
const readEntries = (db: Deps['db'], orgId: string, after: number): Promise<LedgerEntryRow[]> =>
  on<CoreTables>(db)
    .selectFrom('ledger_entry')
    .selectAll()
    .where('org_id', '=', orgId)
    .where('seq', '>', after)
    .where(sql<boolean>`kind >= 'approval.' and kind < 'approval/'`)
    .orderBy('seq')
    .limit(PIECE)
    .execute()
