import type { Database } from '../../db/open.ts'
import type { CoreTables } from '../../db/schema.ts'
import { SYSTEM } from '../../ledger/actor.ts'
import { carriedDraft, carriedOf, parseCarried } from '../../ledger/carried.ts'
import type { EntryDraft } from '../../ledger/draft.ts'
import { carriedEntries } from '../../ledger/erasure-store.ts'
import { readEntries } from '../../ledger/store.ts'
import type { Writer } from '../../ledger/writer.ts'
import { OPERATOR } from '../administration.ts'
import type { PrunePlan } from './plan.ts'

/** Of up to 256 KiB each. */
const PAGE = 250

/** In one transaction at most: others of the organization wait for it. */
const MAX_DRAFTS = 200
const MAX_CHARACTERS = 1_000_000

/**
 * Appends `state.carried` for the administrative entries that would go and that nothing above the cut
 * carries already, as after a pruning that was interrupted. Gives how many are carried for this cut.
 */
export async function carryOver(
  db: Database<CoreTables>,
  writer: Writer,
  { org_id, from_seq, cut, point }: PrunePlan,
  onProgress: (done: number) => void,
): Promise<number> {
  const carried = new Set<number>()
  for await (const entry of carriedEntries(db, org_id, { from: cut })) {
    const { seq } = parseCarried(entry) ?? {}
    if (seq !== undefined && seq < cut) carried.add(seq)
  }
  let count = 0
  let drafts: EntryDraft[] = []
  let characters = 0
  const flush = async () => {
    const entries = drafts
    if (entries.length === 0) return
    ;[drafts, characters] = [[], 0]
    await writer.work(org_id, OPERATOR, () => Promise.resolve({ entries, reply: () => undefined }))
  }
  for (let next = from_seq; next < cut;) {
    const entries = await readEntries(db, org_id, next, Math.min(PAGE, cut - next))
    for (const entry of entries) {
      const found = carriedOf(entry, point.recorded_at)
      if (!found || carried.has(found.seq)) continue
      carried.add(found.seq)
      drafts.push(carriedDraft(found, SYSTEM))
      characters += entry.payload?.length ?? 0
      if (drafts.length >= MAX_DRAFTS || characters >= MAX_CHARACTERS) await flush()
    }
    count += entries.length
    onProgress(count)
    next = (entries.at(-1)?.seq ?? cut) + 1
  }
  await flush()
  return carried.size
}
