import type { LedgerKey } from '@remit/contract'
import type { Database } from '../../db/open.ts'
import type { CoreTables } from '../../db/schema.ts'
import { findCut, MAX_ROTATIONS, ownEntries, textIn } from '../store/cut.ts'
import { GENESIS_KIND } from '../format/entry.ts'

/**
 * Returns the keys that have signed a ledger, as it names them, oldest first. The checkpoint that
 * ends with a rotation is still signed by the old key.
 */
export async function signingKeys(db: Database<CoreTables>, orgId: string): Promise<LedgerKey[]> {
  const cut = await findCut(db, orgId)
  const [genesis] = await ownEntries(db, orgId, GENESIS_KIND, { below: 1, last: 1 })
  const first = cut?.vkey ?? textIn(genesis?.payload ?? null, 'vkey')
  const rotations = await ownEntries(db, orgId, 'ledger.key_rotated', { last: MAX_ROTATIONS })
  const starts = [
    { vkey: first, from: cut?.size ?? 0 },
    ...rotations
      .toReversed()
      .map(({ seq, payload }) => ({ vkey: textIn(payload, 'new_vkey'), from: seq + 1 })),
  ]
  return starts.flatMap(({ vkey, from }, i) => {
    if (vkey === null) return []
    const next = starts[i + 1]
    return [{ vkey, key_id: idOf(vkey), from_seq: from, to_seq: next ? next.from - 1 : null }]
  })
}

/** A verifier key is `<name>+<id>+<key>`, and a base64 key can contain `+`. */
const idOf = (vkey: string): string => /\+([0-9a-f]{8})\+/.exec(vkey)?.[1] ?? ''
