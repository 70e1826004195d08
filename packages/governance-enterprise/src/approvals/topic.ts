import type { EntryObserver } from '@remit/core/ledger/lanes'

/** The signal for changes of an organization's approvals. */
export const APPROVALS_TOPIC = 'approvals'

/** Every change of an approval has an entry, so entries trigger the signal. */
export const approvalObserver: EntryObserver = {
  observe(entries, scope) {
    if (entries.some(({ row }) => row.kind.startsWith('approval.'))) scope.announce(APPROVALS_TOPIC)
    return Promise.resolve()
  },
}
