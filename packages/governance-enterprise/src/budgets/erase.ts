import { readData } from '@remit/contract/entries'
import type { EntryReading } from '@remit/contract/entries'
import { on } from '@remit/core/db'
import type { StoredEntry } from '@remit/core/ledger/proofs'
import type { Eraser } from '@remit/core/ledger/records'
import { contentOf } from '../base/erased-entry.ts'
import { subjectOf } from '../counters/charges.ts'
import type { Tables } from '../tables/schema.ts'
import type { LoadTree } from './store.ts'
import { timeOf } from './windows.ts'

/**
 * Erases the counters of the users whom erased entries name, in windows that have ended. The counter of the
 * current window stays in force until its end.
 */
export const budgetEraser = (loadTree: LoadTree): Eraser => ({
  async erase(entries, { tx, orgId, now }) {
    const named = entries.flatMap(chargesIn)
    const tree = named.length > 0 ? await loadTree(tx, orgId) : null
    for (const { uid, value } of named) {
      const node = tree?.byUid.get(uid ?? '')
      // The counters of a removed budget went with it.
      if (node?.per !== 'user' || value == null) continue
      const current = timeOf(node, now).parts.map(({ id }) => id)
      await on<Tables>(tx)
        .deleteFrom('spend_total')
        .where('org_id', '=', orgId)
        .where('agent_id', '=', subjectOf(node.uid, value))
        .where('window_id', 'not in', current)
        .execute()
    }
  },
})

type RecordedCharge = NonNullable<EntryReading<'entry.appended'>['charges']>[number]

function chargesIn(entry: StoredEntry): readonly Pick<RecordedCharge, 'uid' | 'value'>[] {
  const { kind, data } = contentOf(entry) ?? {}
  if (kind !== 'authorization.decided' && kind !== 'entry.appended') return []
  return readData(kind, data).charges ?? []
}
