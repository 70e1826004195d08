import type { Entry } from '@remit/contract'
import type { EntryPayload, StoredEntry } from '../format/entry.ts'

/** Converts an entry to its API form: the hashed header and the committed payload. */
export function wireEntry(stored: StoredEntry): Entry {
  const { payload } = stored
  return withContent(stored, payload === null ? null : (JSON.parse(payload) as EntryPayload))
}

/** The same for an entry that was just written: `content` is its payload. */
export function withContent(stored: StoredEntry, content: EntryPayload | null): Entry {
  const { seq, kind, recorded_at, commitment, salt, prev_hash, hash } = stored
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
    data: content ? { ...content.data } : null,
    commitment,
    salt,
    prev_hash,
    hash,
  }
}
