import { rowOf } from '@remit/contract/entries'
import type { Draft, EntryDraft, EntryObserver } from '@remit/core/ledger/lanes'
import { defineModule } from '@remit/core/module'
import type { Module } from '@remit/core/module'

/** The data of entries that tests wrote by hand. */
const HAND_MADE = new WeakSet<object>()

/** An entry that no server of this version writes: of any kind, with any data. */
export function handMade(draft: Draft): EntryDraft {
  HAND_MADE.add(draft.data)
  return draft as EntryDraft
}

/** Fails a transaction, and the run of the tests, for an entry that the catalogue describes otherwise. */
const observer: EntryObserver = {
  observe(entries) {
    const faults = entries.flatMap(faultsOf)
    if (faults.length === 0) return Promise.resolve()
    const error = new TypeError(`The catalogue of entries differs: ${faults.join('; ')}`)
    // The writer answers with 503; the reason must not be lost.
    queueMicrotask(() => {
      throw error
    })
    return Promise.reject(error)
  },
}

type Observed = Parameters<EntryObserver['observe']>[0][number]

/** Returns what differs between an entry of the server and its row of the catalogue. */
function faultsOf({ row: { kind }, content }: Observed): string[] {
  if (HAND_MADE.has(content.data)) return []
  const known = rowOf(kind)
  if (!known) return [`${kind} is not in it`]
  const { error } = known.data.safeParse(content.data)
  const faults = (error?.issues ?? []).map(
    ({ path, message }) => `${kind} data.${path.join('.')}: ${message}`,
  )
  const isOfAgent = content.agent_id !== null
  const { agent } = known
  if (agent !== 'sometimes' && isOfAgent !== (agent === 'always'))
    faults.push(`${kind} has ${agent} an agent, but ${content.agent_id}`)
  return faults
}

/** Compares every entry of a test with the catalogue. */
export const entryShapes: Module = defineModule({
  name: 'entry-shapes',
  migrations: {},
  setup: () => ({ observers: [observer] }),
})
