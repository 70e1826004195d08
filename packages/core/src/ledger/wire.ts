import type { Entry } from '@remit/contract'
import type { EntryPayload, StoredEntry } from './entry.ts'

/** An entry as the API serves it: nothing but the hashed header and the committed payload. */
export function wireEntry(stored: StoredEntry): Entry {
  const { seq, kind, recorded_at, commitment, salt, prev_hash, hash, payload } = stored
  const content = payload === null ? null : (JSON.parse(payload) as EntryPayload)
  return {
    seq,
    kind,
    recorded_at,
    actor: content?.actor ?? null,
    agent_id: content?.agent_id ?? null,
    action: content?.action ?? null,
    resource: content?.resource ?? null,
    decision: content?.decision ?? null,
    reason: content?.reason ?? null,
    data: content?.data ?? null,
    commitment,
    salt,
    prev_hash,
    hash,
  }
}
