import type { EntryObserver } from '@remit/core'

/** Signals that something happened to approvals of an organization. */
export const TOPIC = 'approvals'

/** Whatever happens to an approval leaves an entry, so the entries say when to tell. */
export const approvalObserver: EntryObserver = {
  observe(entries, scope) {
    if (entries.some(({ row }) => row.kind.startsWith('approval.'))) scope.announce(TOPIC)
    return Promise.resolve()
  },
}
